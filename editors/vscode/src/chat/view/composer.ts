/** The field in which one writes, and what stands around it. */
import type { ContextFill, Response } from "../conversation";
import type { FromView, Suggestion, Surroundings } from "../messages";
import { Chips } from "./chips";
import { h } from "./dom";
import { icon, type IconName } from "./icons";
import { Meter } from "./meter";
import { ServerLine } from "./serverLine";
import { Suggestions } from "./suggestions";
import { wordAtCursor } from "./wordAtCursor";

export interface ComposerActions {
  post(message: FromView): void;
  /** `edited` is the response whose question was changed. */
  send(text: string, isRelease: boolean, edited: Response | null): void;
  /** Show what would be sent along. */
  preview(text: string, edited: Response | null): void;
  /** Read this aloud. */
  say(text: string): void;
  editLast(): void;
  chooseModel(): void;
  drafted(text: string): void;
}

const WAIT = "Wait for the answer, or stop it with Escape.";

export class Composer {
  private readonly field = h("textarea", {
    rows: 1,
    placeholder: "Ask, / for orders, # to mention",
    "aria-label": "Message",
    "aria-autocomplete": "list",
    "aria-controls": "suggestions",
  });
  private readonly suggestions = new Suggestions(this.field, (chosen) => {
    this.insert(chosen);
  });
  private readonly chips: Chips;
  private readonly along = h("div");
  private readonly server: ServerLine;
  private readonly meter = new Meter(() => {
    void this.preview();
  });
  private readonly editingWords = h("span");
  private readonly editing = h("div", { class: "editing", hidden: true }, icon("edit"), this.editingWords);
  private readonly waiting = h("p", { class: "wait", text: WAIT, "aria-hidden": "true", hidden: true });
  private readonly unread = h("p", { class: "wait", "aria-hidden": "true", hidden: true });
  private readonly attaching = button("attach", "Attach a file", () => {
    this.actions.post({ type: "attach" });
  });
  private readonly model = h("button", { class: "quiet-button model-button", type: "button" });
  private readonly release = button("kraken", "Release the Kraken: ask an external provider", () => {
    this.submit(true);
  });
  private readonly sending = button("send", "Send", () => {
    this.submit(false);
  });
  private readonly stopping = button("stop", "Stop", () => {
    this.actions.post({ type: "stop" });
  });
  readonly element: HTMLElement;
  private edited: Response | null = null;
  private isRunning = false;
  /** The wish to send that waits for pictures. */
  private awaited: symbol | null = null;

  constructor(private readonly actions: ComposerActions) {
    this.chips = new Chips(
      (message) => {
        actions.post(message);
      },
      () => {
        this.focus();
      },
      (name) => {
        this.tellUnread(name);
      },
    );
    this.server = new ServerLine((message) => {
      actions.post(message);
    });
    this.editing.append(
      button("close", "Do not edit", () => {
        this.leaveEditing();
      }),
    );
    this.sending.classList.add("primary");
    this.stopping.classList.add("primary");
    this.model.addEventListener("click", () => {
      actions.chooseModel();
    });
    const tools = h(
      "div",
      { class: "composer-tools" },
      this.attaching,
      this.model,
      h("span", { class: "space" }),
      this.meter.element,
      this.release,
      this.stopping,
      this.sending,
    );
    const box = h("div", { class: "composer-box" }, this.editing, this.along, this.field, tools);
    this.element = h(
      "form",
      { class: "composer", "aria-label": "Ask" },
      this.suggestions.element,
      this.server.element,
      this.waiting,
      this.unread,
      box,
    );
    this.along.append(this.chips.element);
    this.listen();
    this.showRunning(false);
  }

  get text(): string {
    return this.field.value;
  }

  focus(): void {
    this.field.focus();
  }

  /** Write this into the field. */
  write(text: string): void {
    this.field.value = text;
    this.field.setSelectionRange(text.length, text.length);
    this.changed();
  }

  show(surroundings: Surroundings, context: ContextFill | null): void {
    this.chips.show(surroundings);
    this.server.show(surroundings.server);
    const name = surroundings.model.slice(surroundings.model.indexOf(":") + 1);
    this.model.replaceChildren(h("span", { text: name || "Choose a model" }), icon("chevron"));
    this.model.title = surroundings.model ? `Model: ${surroundings.model}` : "Choose a model";
    this.model.setAttribute("aria-label", this.model.title);
    this.release.hidden = surroundings.kraken !== "ready";
    this.meter.show(context);
  }

  showRunning(isRunning: boolean): void {
    const hadFocus = document.activeElement === (isRunning ? this.sending : this.stopping);
    this.isRunning = isRunning;
    this.waiting.hidden ||= !isRunning;
    this.stopping.hidden = !isRunning;
    this.sending.hidden = isRunning;
    if (hadFocus) (isRunning ? this.stopping : this.field).focus();
    this.enable();
  }

  suggest(word: string, found: readonly Suggestion[]): void {
    if (this.word()?.text === word) this.suggestions.show(found);
  }

  edit(response: Response): void {
    this.showEdited(response);
    this.write(response.question);
    this.suggestions.close();
    this.focus();
  }

  /** Another conversation is shown: what is written goes there, but a question that was only looked at does not. */
  forgetEdited(): void {
    if (this.edited?.question === this.text) this.leaveEditing();
    this.showEdited(null);
  }

  private listen(): void {
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
    });
    this.field.addEventListener("input", () => {
      this.changed();
    });
    this.field.addEventListener("blur", () => {
      this.suggestions.close();
    });
    this.field.addEventListener("keydown", (event) => {
      this.key(event);
    });
    this.field.addEventListener("paste", (event) => {
      // Some programs put a picture of the text beside the text.
      if (event.clipboardData?.getData("text/plain") || this.edited?.isContextKept) return;
      this.take(event, event.clipboardData);
    });
    this.element.addEventListener("dragover", (event) => {
      event.preventDefault();
    });
    this.element.addEventListener("drop", (event) => {
      this.take(event, event.dataTransfer);
    });
  }

  private take(event: Event, data: DataTransfer | null): void {
    if (!this.chips.take(data)) return;
    event.preventDefault();
    this.unread.hidden = true;
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (this.suggestions.key(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.submit(false);
    } else if (event.key === "Escape" && this.edited) {
      event.stopPropagation();
      this.leaveEditing();
    } else if (event.key === "ArrowUp" && this.field.value === "") {
      event.preventDefault();
      this.actions.editLast();
    }
  }

  private changed(): void {
    this.actions.drafted(this.field.value);
    this.enable();
    const word = this.word();
    if (word) this.actions.post({ type: "suggest", for: word.text });
    else this.suggestions.close();
  }

  private word(): ReturnType<typeof wordAtCursor> {
    return wordAtCursor(this.field.value, this.field.selectionStart);
  }

  private insert({ insert }: Suggestion): void {
    const word = this.word();
    if (word) this.field.setRangeText(insert, word.start, word.end, "end");
    this.changed();
  }

  private enable(): void {
    const isReady = this.field.value.trim() !== "" && !this.isRunning;
    this.sending.disabled = this.release.disabled = !isReady;
  }

  private submit(isRelease: boolean): void {
    const text = this.field.value.trim();
    if (text === "") return;
    if (this.isRunning) {
      this.askToWait();
      return;
    }
    const { edited } = this;
    if (this.chips.isReading && !edited?.isContextKept) {
      void this.submitWhenRead(isRelease);
      return;
    }
    this.unread.hidden = true;
    this.awaited = null;
    this.leaveEditing();
    this.write("");
    this.actions.send(text, isRelease, edited);
    if (!edited?.isContextKept) this.chips.clearImages();
  }

  /** Until then the question stays in its field, where it can still be changed. */
  private async submitWhenRead(isRelease: boolean): Promise<void> {
    const wish = (this.awaited = Symbol());
    await this.chips.whenRead;
    if (this.awaited !== wish) return;
    this.awaited = null;
    this.submit(isRelease);
  }

  private async preview(): Promise<void> {
    await this.chips.whenRead;
    this.actions.preview(this.field.value.trim(), this.edited);
  }

  /** Without the picture the question would be another one, so that it does not leave by itself. */
  private tellUnread(name: string): void {
    const words = `${name} could not be read. Paste or drop it again.`;
    this.awaited = null;
    this.unread.textContent = words;
    this.unread.hidden = false;
    this.actions.say(words);
  }

  /** Nothing can be sent while an answer runs; say so, rather than do nothing. */
  askToWait(): void {
    this.waiting.hidden = false;
    this.actions.say(WAIT);
  }

  get images(): Chips["images"] {
    return this.chips.images;
  }

  private leaveEditing(): void {
    if (!this.edited) return;
    this.showEdited(null);
    this.write("");
    this.focus();
  }

  /** What was sent along goes along again, so that what is attached now waits for the next question. */
  private showEdited(edited: Response | null): void {
    const isContextKept = edited?.isContextKept ?? false;
    const attached = isContextKept ? (edited?.attached ?? []) : [];
    this.edited = edited;
    this.awaited = null;
    this.editing.hidden = edited === null;
    this.editingWords.textContent = ["Edit and send again", ...attached].join(" · ");
    this.along.hidden = this.attaching.hidden = isContextKept;
  }
}

function button(name: IconName, label: string, onClick: () => void): HTMLButtonElement {
  return h(
    "button",
    { class: "icon-button", type: "button", title: label, "aria-label": label, on: { click: onClick } },
    icon(name),
  );
}
