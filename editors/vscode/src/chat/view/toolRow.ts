/** A tool call as one line: what it does, how far it has come, where. What was asked and answered can be unfolded. */
import type { Location, ToolStatus } from "../../protocol";
import type { ToolPart } from "../conversation";
import { decoded } from "../fileLink";
import { h, setChildren } from "./dom";
import { icon, type IconName } from "./icons";
import { TOOL_STATES } from "./words";

/** More of a result is not shown: the model reads it, not the user. */
const LONGEST_RESULT = 8_000;

const ICONS: Readonly<Partial<Record<ToolStatus, IconName>>> = {
  awaitingPermission: "warning",
  completed: "check",
  failed: "error",
  denied: "close",
};

export class ToolRow {
  private readonly state = h("span", { class: "tool-state" });
  private readonly title = h("span", { class: "tool-title" });
  private readonly hint = h("span", { class: "tool-hint" });
  private readonly body = h("div", { class: "tool-body" });
  private readonly places = h("span", { class: "tool-places" });
  private readonly details = h(
    "details",
    {
      on: {
        toggle: () => {
          this.unfold();
        },
      },
    },
    h("summary", {}, this.state, this.title, this.hint),
    this.body,
  );
  readonly element = h("div", { class: "tool" }, this.details, this.places);

  constructor(private call: ToolPart) {}

  show(call: ToolPart): void {
    this.call = call;
    const { status } = call;
    this.element.dataset["status"] = status;
    this.title.textContent = call.title;
    this.title.title = call.title;
    this.hint.textContent = status === "denied" ? TOOL_STATES.denied : "";
    const name = ICONS[status];
    const mark = h(
      "span",
      { class: name ? "" : "spinner", role: "img", "aria-label": TOOL_STATES[status] },
      name ? icon(name) : null,
    );
    this.state.replaceChildren(mark);
    // The review shows the places, too; beside its button they would leave no room for the title.
    const isAwaited = status === "awaitingPermission";
    setChildren(this.places, isAwaited ? [reviewButton()] : call.locations.slice(0, 3).map(locationLink));
    this.unfold();
  }

  private unfold(): void {
    if (!this.details.open) return;
    const given = JSON.stringify(this.call.arguments, null, 2);
    this.body.replaceChildren(
      ...(given === "{}" ? [] : [labelled("Asked", given)]),
      ...(this.call.result === "" ? [] : [labelled("Result", shortened(this.call.result))]),
    );
  }
}

function labelled(label: string, text: string): HTMLElement {
  return h(
    "div",
    {},
    h("div", { class: "tool-label", text: label }),
    h("pre", { tabindex: 0, "aria-label": label, text }),
  );
}

function shortened(text: string): string {
  return text.length > LONGEST_RESULT
    ? `${text.slice(0, LONGEST_RESULT)}\n… ${text.length - LONGEST_RESULT} characters more`
    : text;
}

function locationLink({ uri, line }: Location): HTMLElement {
  const name = decoded(uri.split("/").at(-1) ?? uri);
  const text = line === undefined ? name : `${name}:${line + 1}`;
  return h("a", { role: "link", tabindex: 0, "data-uri": uri, "data-line": line ?? 0, title: `Open ${text}`, text });
}

function reviewButton(): HTMLElement {
  return h("button", { class: "review", type: "button", "data-action": "review", text: "Review" });
}
