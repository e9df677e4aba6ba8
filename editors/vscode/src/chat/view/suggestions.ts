/** The menu of orders and mentions above the field in which one writes. The field keeps the focus. */
import type { Suggestion } from "../messages";
import { h, setAttribute } from "./dom";

export class Suggestions {
  readonly element = h("div", {
    class: "suggestions",
    id: "suggestions",
    role: "listbox",
    "aria-label": "Suggestions",
    hidden: true,
  });
  private shown: readonly Suggestion[] = [];
  private at = 0;

  /** `take` gets what was chosen; `field` is told which one is marked. */
  constructor(
    private readonly field: HTMLElement,
    private readonly take: (suggestion: Suggestion) => void,
  ) {
    this.element.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const option = event.target instanceof Element ? event.target.closest("[role=option]") : null;
      const chosen = this.shown[[...this.element.children].findIndex((child) => child === option)];
      if (chosen) this.choose(chosen);
    });
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  show(suggestions: readonly Suggestion[]): void {
    this.shown = suggestions;
    this.at = 0;
    this.element.replaceChildren(...suggestions.map(option));
    this.element.hidden = suggestions.length === 0;
    this.mark();
  }

  close(): void {
    this.show([]);
  }

  /** Whether the key was for the menu. */
  key(event: KeyboardEvent): boolean {
    if (!this.isOpen || event.isComposing) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) this.at = (this.at + step + this.shown.length) % this.shown.length;
    else if (event.key === "Escape") this.close();
    else if (event.key === "Enter" || event.key === "Tab") {
      const chosen = this.shown[this.at];
      if (chosen) this.choose(chosen);
    } else return false;
    this.mark();
    return true;
  }

  private choose(suggestion: Suggestion): void {
    this.close();
    this.take(suggestion);
  }

  private mark(): void {
    [...this.element.children].forEach((child, index) => {
      child.setAttribute("aria-selected", String(index === this.at));
      if (index === this.at) child.scrollIntoView({ block: "nearest" });
    });
    setAttribute(this.field, "aria-activedescendant", this.isOpen ? optionId(this.at) : null);
  }
}

function option(suggestion: Suggestion, index: number): HTMLElement {
  return h(
    "div",
    { id: optionId(index), role: "option", class: "suggestion" },
    h("span", { class: "suggestion-label", text: suggestion.label }),
    h("span", { class: "suggestion-detail", text: suggestion.detail }),
  );
}

function optionId(index: number): string {
  return `suggestion-${index}`;
}
