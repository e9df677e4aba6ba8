/** A page with a search field and a list, which is walked with the arrow keys. */
import { h, setChildren } from "./dom";
import { icon } from "./icons";

export class Picker {
  private readonly search: HTMLInputElement;
  private readonly list = h("div", { class: "picker-list", role: "list" });
  private readonly empty = h("p", { class: "picker-empty", hidden: true });
  readonly element: HTMLElement;

  constructor(
    title: string,
    private readonly events: { onSearch: (words: string) => void; onClose: () => void },
    ...more: readonly HTMLElement[]
  ) {
    const closing = h(
      "button",
      { class: "icon-button", type: "button", title: "Back to the chat", "aria-label": "Back to the chat" },
      icon("back"),
    );
    closing.addEventListener("click", () => {
      this.close();
    });
    this.search = h("input", {
      type: "search",
      placeholder: "Search",
      "aria-label": `Search in ${title.toLowerCase()}`,
    });
    this.search.addEventListener("input", () => {
      events.onSearch(this.search.value);
    });
    this.element = h(
      "section",
      { class: "picker", "aria-label": title, hidden: true },
      h("div", { class: "picker-head" }, closing, h("h2", { text: title }), ...more),
      h("div", { class: "picker-search" }, icon("search"), this.search),
      this.list,
      this.empty,
    );
    this.element.addEventListener("keydown", (event) => {
      this.key(event);
    });
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  open(): void {
    this.cover(true);
    this.search.value = "";
    this.events.onSearch("");
    this.search.focus();
  }

  close(): void {
    if (!this.isOpen) return;
    this.cover(false);
    this.events.onClose();
  }

  /** The rows; each holds a button with the class `row-main`. `empty` is said when there are none. */
  show(rows: readonly HTMLElement[], empty: string): void {
    setChildren(this.list, rows);
    this.empty.hidden = rows.length > 0;
    this.empty.textContent = empty;
  }

  /** What is behind the page can neither be reached nor read while it is open. */
  private cover(isOpen: boolean): void {
    this.element.hidden = !isOpen;
    for (const other of this.element.parentElement?.children ?? [])
      if (other instanceof HTMLElement && other !== this.element) other.inert = isOpen;
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.step(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && event.target === this.search) this.rows()[0]?.click();
  }

  private step(by: number): void {
    const rows = this.rows();
    const here = document.activeElement?.closest(".row")?.querySelector<HTMLElement>(".row-main");
    const at = here ? rows.indexOf(here) : -1;
    const next = rows[at + by];
    if (next) next.focus();
    else if (by < 0) this.search.focus();
  }

  private rows(): readonly HTMLElement[] {
    return [...this.list.querySelectorAll<HTMLElement>(".row-main")];
  }
}

/** Whether every word is somewhere in the text. */
export function matches(text: string, words: string): boolean {
  const low = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}
