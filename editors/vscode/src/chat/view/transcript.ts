/** The branch of the conversation that is shown, rendered in small portions. */
import { alternatives, newestLeaf, path } from "../branches";
import type { Conversation, Response } from "../conversation";
import { h, setChildren } from "./dom";
import { icon } from "./icons";
import { codeAt } from "./markdown/codeBlock";
import type { FromView } from "../messages";
import { ResponseView } from "./responseView";
import { Scrolling } from "./scrolling";

/** How long one portion may take, in milliseconds: half of a frame. */
const PORTION = 8;
/** A frame that takes longer, also for layout and paint, is followed by a rest of twice its time. */
const FRAME = 24;

export interface TranscriptActions {
  post(message: FromView): void;
  edit(response: Response): void;
  again(response: Response, isRelease: boolean): void;
}

export class Transcript {
  private readonly list = h("div", { class: "responses" });
  private readonly log = h(
    "div",
    { class: "log", role: "log", "aria-live": "polite", "aria-label": "Conversation", tabindex: 0 },
    this.list,
  );
  private readonly toEnd = h(
    "button",
    { class: "to-end", type: "button", hidden: true, title: "To the end", "aria-label": "To the end" },
    icon("down"),
  );
  readonly element = h("div", { class: "transcript" }, this.log, this.toEnd);
  readonly scrolling = new Scrolling(this.log, this.list, this.toEnd);
  private views = new Map<string, ResponseView>();
  private conversation: Conversation | null = null;
  private isKrakenReady = false;
  private isDirty = false;
  private isBusy = false;
  private isComplete = true;
  /** The button that shall have the focus as soon as its response is shown. */
  private awaited: { readonly key: string; readonly label: string | null } | null = null;

  constructor(private readonly actions: TranscriptActions) {
    this.log.addEventListener("click", (event) => {
      this.click(event);
    });
    this.log.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target instanceof HTMLAnchorElement) this.click(event);
    });
  }

  /** Show this soon: at most once in a frame, and less often when a portion takes long. */
  show(conversation: Conversation, isKrakenReady: boolean): void {
    this.conversation = conversation;
    this.isKrakenReady = isKrakenReady;
    this.schedule();
  }

  /** What is shown next was there before: nobody wants it read aloud. */
  hush(): void {
    this.log.setAttribute("aria-live", "off");
  }

  showProgress(message: string): void {
    const last = this.conversation?.responses.at(-1);
    if (last) this.views.get(last.key)?.showProgress(message);
  }

  private schedule(): void {
    this.isDirty = true;
    if (this.isBusy) return;
    this.isBusy = true;
    requestAnimationFrame((began) => {
      this.isDirty = false;
      try {
        this.render();
      } finally {
        this.restAfter(began);
      }
    });
  }

  /** What follows a frame comes after the browser has laid it out and painted it. */
  private restAfter(began: number): void {
    setTimeout(() => {
      const took = performance.now() - began;
      setTimeout(
        () => {
          this.rest();
        },
        took > FRAME ? 2 * took : 0,
      );
    });
  }

  private rest(): void {
    this.isBusy = false;
    if (this.isComplete && this.log.ariaLive === "off") this.log.setAttribute("aria-live", "polite");
    if (this.isDirty) this.schedule();
  }

  /** The newest first: what is above them is filled in later portions, while the user already reads. */
  private render(): void {
    if (!this.conversation) return;
    const began = performance.now();
    const { conversation, isKrakenReady } = this;
    const steps = path(conversation);
    this.isComplete = false;
    this.place(steps);
    for (const response of steps.toReversed()) {
      const others = alternatives(conversation, response).map((other) => other.key);
      const shown = { response, alternatives: others, isKrakenReady };
      const view = this.views.get(response.key);
      if (!view || view.shows(shown)) continue;
      if (performance.now() - began > PORTION) {
        this.schedule();
        return;
      }
      view.show(shown);
      if (this.awaited?.key === response.key) this.focusAwaited(view);
    }
    this.isComplete = true;
  }

  private focusAwaited(view: ResponseView): void {
    if (document.activeElement === document.body) view.focus("choose", this.awaited?.label ?? "");
    this.awaited = null;
  }

  private place(steps: readonly Response[]): void {
    this.views = new Map(steps.map(({ key }) => [key, this.views.get(key) ?? new ResponseView(key)]));
    setChildren(
      this.list,
      [...this.views.values()].map((view) => view.element),
    );
  }

  private click(event: Event): void {
    const target = event.target instanceof Element ? event.target.closest("button, a") : null;
    if (!target) return;
    const code = codeAt(target);
    const { href, uri, line, action, to } = (target as HTMLElement).dataset;
    if (code) this.actions.post({ type: "code", ...code });
    else if (href !== undefined) this.actions.post({ type: "link", href });
    else if (uri !== undefined) this.actions.post({ type: "location", uri, line: Number(line) });
    else if (action !== undefined) this.act(action, target, to);
    if (code?.action === "copy" || action === "copy") confirmCopy(target);
  }

  private act(action: string, target: Element, to: string | undefined): void {
    const key = target.closest<HTMLElement>(".response")?.dataset["key"];
    const response = this.conversation?.responses.find((one) => one.key === key);
    if (!response || !this.conversation) return;
    if (action === "review") this.actions.post({ type: "review" });
    else if (action === "copy") this.actions.post({ type: "copy", text: answerText(response) });
    else if (action === "edit") this.actions.edit(response);
    else if (action === "choose" && to) {
      this.awaited = { key: to, label: target.ariaLabel };
      this.actions.post({ type: "choose", leaf: newestLeaf(this.conversation, to) });
    } else if (action === "retry" || action === "release") this.actions.again(response, action === "release");
  }
}

function answerText(response: Response): string {
  return response.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

function confirmCopy(button: Element): void {
  if (button.classList.contains("confirmed")) return;
  const before = [...button.childNodes];
  button.replaceChildren(icon("check"));
  button.classList.add("confirmed");
  setTimeout(() => {
    button.replaceChildren(...before);
    button.classList.remove("confirmed");
  }, 1200);
}
