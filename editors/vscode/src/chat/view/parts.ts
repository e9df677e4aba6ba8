/** The parts of an answer: text, thoughts, tool calls and notes. Each is an element that follows its part. */
import type { Part, ToolPart } from "../conversation";
import { unreachable } from "../../protocol";
import { h } from "./dom";
import { icon, type IconName } from "./icons";
import { GrowingMarkdown } from "./markdown/growingMarkdown";
import { ToolRow } from "./toolRow";

export interface PartView {
  readonly element: HTMLElement;
  readonly type: Part["type"];
  /** `isWhole` when the part will not grow any more. */
  show(part: Part, isWhole: boolean): void;
}

/** The element for a part of that kind. */
export function partView(part: Part): PartView {
  switch (part.type) {
    case "text":
      return new TextView();
    case "reasoning":
      return new ReasoningView();
    case "toolCall":
      return new ToolView(part);
    case "warning":
      return note("warning", "warning", "Warning", part.message, part.remedy);
    case "error":
      return note("error", "error", "Error", part.message, part.remedy);
    case "escalation":
      return note("escalation", "kraken", "Escalation", part.reason, `Suggested: ${part.provider} · ${part.model}`);
    default:
      return unreachable(part);
  }
}

class TextView implements PartView {
  readonly type = "text";
  readonly element = h("div", { class: "markdown" });
  private readonly markdown = new GrowingMarkdown(this.element);

  show(part: Part, isWhole: boolean): void {
    if (part.type === "text") this.markdown.show(part.text, isWhole);
  }
}

/** Thoughts are folded, and rendered only when somebody wants to read them. */
class ReasoningView implements PartView {
  readonly type = "reasoning";
  private readonly label = h("span", { text: "Thinking…" });
  private readonly body = h("div", { class: "markdown reasoning-text" });
  private readonly markdown = new GrowingMarkdown(this.body);
  private text = "";
  private isWhole = false;
  readonly element = h(
    "details",
    {
      class: "reasoning",
      on: {
        toggle: () => {
          this.render();
        },
      },
    },
    h("summary", {}, icon("chevron"), this.label),
    this.body,
  );

  show(part: Part, isWhole: boolean): void {
    if (part.type !== "reasoning") return;
    this.text = part.text;
    this.isWhole = isWhole;
    this.label.textContent = isWhole ? "Thoughts" : "Thinking…";
    this.element.classList.toggle("live", !isWhole);
    this.render();
  }

  private render(): void {
    if (this.element.open) this.markdown.show(this.text, this.isWhole);
  }
}

class ToolView implements PartView {
  readonly type = "toolCall";
  private readonly row: ToolRow;

  constructor(call: ToolPart) {
    this.row = new ToolRow(call);
  }

  get element(): HTMLElement {
    return this.row.element;
  }

  show(part: Part): void {
    if (part.type === "toolCall") this.row.show(part);
  }
}

function note(
  type: "warning" | "error" | "escalation",
  name: IconName,
  label: string,
  message: string,
  remedy: string,
): PartView {
  const element = h(
    "div",
    { class: `note ${type}`, role: type === "error" ? "alert" : "note", "aria-label": label },
    icon(name),
    h("div", {}, h("p", { text: message }), remedy !== "" && h("p", { class: "remedy", text: remedy })),
  );
  return { element, type, show: () => undefined };
}
