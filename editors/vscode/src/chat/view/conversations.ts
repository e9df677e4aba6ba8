/** The list of conversations: search, open, rename and delete. */
import type { ConversationSummary } from "../../protocol";
import type { FromView } from "../messages";
import { h } from "./dom";
import { icon } from "./icons";
import { matches, Picker } from "./picker";
import { ago, money } from "./words";

export class Conversations {
  private readonly picker: Picker;
  private all: readonly ConversationSummary[] | null = null;
  private words = "";

  constructor(
    private readonly post: (message: FromView) => void,
    onClose: () => void,
  ) {
    const adding = h("button", { class: "quiet-button", type: "button" }, icon("add"), "New chat");
    adding.addEventListener("click", () => {
      post({ type: "new" });
      this.picker.close();
    });
    const onSearch = (words: string): void => {
      this.words = words;
      this.render();
    };
    this.picker = new Picker("Conversations", { onSearch, onClose }, adding);
  }

  get element(): HTMLElement {
    return this.picker.element;
  }

  open(): void {
    this.post({ type: "list" });
    this.picker.open();
  }

  close(): void {
    this.picker.close();
  }

  show(conversations: readonly ConversationSummary[]): void {
    this.all = conversations;
    this.render();
  }

  private render(): void {
    const found = this.all?.filter(({ title, model }) => matches(`${title} ${model}`, this.words)) ?? [];
    const empty =
      this.all === null ? "Loading…" : this.words ? "No conversation has these words." : "No conversations yet.";
    this.picker.show(
      found.map((conversation) => this.row(conversation)),
      empty,
    );
  }

  private row(conversation: ConversationSummary): HTMLElement {
    const { id, title, updated, model, responses, cost } = conversation;
    const facts = [ago(updated, Date.now()), model, responses === 1 ? "1 answer" : `${responses} answers`, money(cost)];
    const main = h(
      "button",
      { class: "row-main", type: "button" },
      h("span", { class: "row-title", text: title }),
      h("span", { class: "row-facts", text: facts.filter(Boolean).join(" · ") }),
    );
    const renaming = rowButton("edit", `Rename ${title}`);
    const deleting = rowButton("trash", `Delete ${title}`);
    const row = h("div", { class: "row", role: "listitem" }, main, renaming, deleting);
    main.addEventListener("click", () => {
      this.post({ type: "open", conversationId: id });
      this.picker.close();
    });
    renaming.addEventListener("click", () => {
      this.rename(row, conversation);
    });
    deleting.addEventListener("click", () => {
      this.post({ type: "delete", conversationId: id, title });
    });
    row.addEventListener("keydown", (event) => {
      if (event.target !== main) return;
      if (event.key === "F2") this.rename(row, conversation);
      else if (event.key === "Delete") deleting.click();
    });
    return row;
  }

  private rename(row: HTMLElement, conversation: ConversationSummary): void {
    const field = h("input", { type: "text", value: conversation.title, "aria-label": "Title" });
    const leave = (): void => {
      const renewed = this.row(conversation);
      row.replaceWith(renewed);
      renewed.querySelector<HTMLElement>(".row-main")?.focus();
    };
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") leave();
      if (event.key !== "Enter" || event.isComposing) return;
      const title = field.value.trim();
      if (title && title !== conversation.title) {
        this.post({ type: "rename", conversationId: conversation.id, title });
        this.all = this.all?.map((one) => (one.id === conversation.id ? { ...one, title } : one)) ?? null;
        this.render();
      } else leave();
    });
    row.replaceChildren(field);
    field.select();
  }
}

function rowButton(name: "edit" | "trash", label: string): HTMLButtonElement {
  return h("button", { class: "icon-button", type: "button", title: label, "aria-label": label }, icon(name));
}
