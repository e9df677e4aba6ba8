/** A question with its answer. */
import type { Response } from "../conversation";
import { h, renew, setAttribute, setChildren } from "./dom";
import { icon, type IconName } from "./icons";
import { partView, type PartView } from "./parts";
import { ENDS, foot, shortFoot } from "./words";

export interface Shown {
  readonly response: Response;
  /** The keys of all that answer in its place, itself among them. */
  readonly alternatives: readonly string[];
  readonly isKrakenReady: boolean;
}

export class ResponseView {
  private readonly question = h("div", { class: "question", role: "group", "aria-label": "You" });
  private readonly head = h("div", { class: "head" });
  private readonly parts = h("div", { class: "parts" });
  private readonly waiting = h(
    "div",
    { class: "waiting" },
    h("span", { class: "dots", "aria-hidden": "true" }),
    h("span"),
  );
  private readonly end = h("div", { class: "end" });
  private readonly answer = h("div", { class: "answer", role: "group" }, this.head, this.parts, this.waiting, this.end);
  readonly element: HTMLElement;
  private views: PartView[] = [];
  private shown: Shown | null = null;

  constructor(key: string) {
    this.element = h("article", { class: "response", "data-key": key }, this.question, this.answer);
  }

  /** Whether all of this is shown already. */
  shows({ response, alternatives, isKrakenReady }: Shown): boolean {
    const before = this.shown;
    return (
      before?.response === response &&
      before.alternatives.length === alternatives.length &&
      before.isKrakenReady === isKrakenReady
    );
  }

  show(shown: Shown): void {
    const before = this.shown;
    const { response } = shown;
    this.shown = shown;
    const isRunning = response.finish === null;
    setAttribute(this.element, "aria-busy", isRunning ? "true" : null);
    if (before?.response.question !== response.question || before.alternatives.length !== shown.alternatives.length)
      this.showQuestion(shown);
    if (before?.response.model !== response.model) this.showHead(response);
    if (response.isRecap) return;
    this.showParts(response, before?.response);
    this.waiting.hidden = !isRunning;
    if (!isRunning) this.showEnd(shown);
    else this.end.replaceChildren();
  }

  /** Focus a button by what it does: the one with this label where it can be used, else another one. */
  focus(name: string, label: string): void {
    const all = [...this.element.querySelectorAll<HTMLButtonElement>(`[data-action="${name}"]:enabled`)];
    (all.find((button) => button.ariaLabel === label) ?? all[0])?.focus();
  }

  /** What keeps the user waiting. */
  showProgress(message: string): void {
    const line = this.waiting.lastElementChild;
    if (line) line.textContent = message;
  }

  private showQuestion({ response, alternatives }: Shown): void {
    if (response.isRecap) {
      this.element.classList.add("recap");
      const summary = h("summary", {}, icon("chevron"), h("span", { text: "Summarised up to here" }));
      this.question.replaceChildren(h("details", {}, summary, h("p", { text: response.question })));
      return;
    }
    this.question.hidden = response.isSecondTry;
    const attached = response.attached.map((name) => h("span", { class: "chip" }, icon("file"), name));
    renew(this.question, [
      h("p", { class: "question-text", text: response.question }),
      ...(attached.length > 0 ? [h("div", { class: "chips" }, ...attached)] : []),
      h(
        "div",
        { class: "actions" },
        ...branchButtons(response.key, alternatives),
        action("edit", "edit", "Edit and send again"),
      ),
    ]);
  }

  private showHead({ model, provider, isRecap }: Response): void {
    const name = model.startsWith(`${provider}:`) ? model.slice(provider.length + 1) : model;
    this.answer.setAttribute("aria-label", model ? `Answer of ${model}` : "Answer");
    if (!model || isRecap) return;
    this.head.replaceChildren(
      icon("model"),
      h("span", { class: "head-model", text: name }),
      h("span", { class: "head-provider", text: provider }),
    );
  }

  /** A part that is as it was before is left alone. */
  private showParts(response: Response, before: Response | undefined): void {
    this.views = response.parts.map((part, index) => {
      const there = this.views[index];
      const view = there?.type === part.type ? there : partView(part);
      const isWhole = isWholePart(response, index);
      if (view !== there || part !== before?.parts[index] || isWhole !== isWholePart(before, index))
        view.show(part, isWhole);
      return view;
    });
    setChildren(
      this.parts,
      this.views.map((view) => view.element),
    );
  }

  private showEnd({ response, isKrakenReady }: Shown): void {
    const reason = response.finish && ENDS[response.finish];
    const took = foot(response);
    renew(this.end, [
      ...(reason ? [h("p", { class: "end-reason", text: reason })] : []),
      h(
        "div",
        { class: "actions" },
        action("copy", "copy", "Copy the answer"),
        action("retry", "retry", "Ask again"),
        isKrakenReady && action("release", "kraken", "Release the Kraken: ask an external provider instead"),
        took !== "" &&
          h("span", { class: "foot", role: "note", text: shortFoot(response), title: took, "aria-label": took }),
      ),
    ]);
  }
}

/** Whether a part will not grow any more. */
function isWholePart({ finish, parts }: Response, index: number): boolean {
  return finish !== null || index < parts.length - 1;
}

function action(name: string, picture: IconName, label: string): HTMLElement {
  return h(
    "button",
    { class: "icon-button", type: "button", "data-action": name, title: label, "aria-label": label },
    icon(picture),
  );
}

function branchButtons(key: string, alternatives: readonly string[]): readonly HTMLElement[] {
  if (alternatives.length < 2) return [];
  const at = alternatives.indexOf(key);
  const to = (step: number, picture: IconName, label: string): HTMLElement => {
    const button = action("choose", picture, label);
    const target = alternatives[at + step];
    setAttribute(button, "data-to", target);
    setAttribute(button, "disabled", target === undefined);
    return button;
  };
  return [
    to(-1, "back", "Earlier version"),
    h("span", { class: "branch", text: `${at + 1}/${alternatives.length}`, title: "Versions of this question" }),
    to(1, "forward", "Later version"),
  ];
}
