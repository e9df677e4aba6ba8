/** The chat view: what the host tells becomes elements, what the user does is told to the host. */
import { path } from "../branches";
import { apply, EMPTY, type Conversation, type Response } from "../conversation";
import type { Draft, FromView, Saved, Surroundings, ToView } from "../messages";
import { unreachable } from "../../protocol";
import "./chat.css";
import { Composer } from "./composer";
import { Conversations } from "./conversations";
import { h } from "./dom";
import { icon } from "./icons";
import { Models } from "./models";
import { Transcript } from "./transcript";
import { welcome } from "./welcome";

declare function acquireVsCodeApi(): {
  postMessage(message: FromView): void;
  getState(): Saved | undefined;
  setState(state: Saved): void;
};

class ChatView {
  private readonly host = acquireVsCodeApi();
  private conversation: Conversation = EMPTY;
  private isRunning = false;
  private surroundings: Surroundings = {
    place: null,
    isPinned: false,
    isPlaceSent: true,
    files: [],
    model: "",
    kraken: "none",
    server: "starting",
  };
  private readonly post = (message: FromView): void => {
    this.host.postMessage(message);
  };
  private readonly composer = new Composer({
    post: this.post,
    send: (text, isRelease, edited) => {
      this.send(this.draft(text, edited), isRelease);
    },
    preview: (text, edited) => {
      this.post({ type: "context", ...this.draft(text, edited) });
    },
    say: (text) => {
      this.say(text);
    },
    editLast: () => {
      const last = path(this.conversation).findLast((response) => !response.isRecap && !response.isSecondTry);
      if (last) this.composer.edit(last);
    },
    chooseModel: () => {
      this.models.open();
    },
    drafted: () => {
      this.save();
    },
  });
  private readonly transcript = new Transcript({
    post: this.post,
    edit: (response) => {
      this.composer.edit(response);
    },
    again: (response, isRelease) => {
      this.again(response, isRelease);
    },
  });
  private readonly conversations = new Conversations(this.post, () => {
    this.composer.focus();
  });
  private readonly models = new Models(
    this.post,
    () => this.surroundings.model,
    () => {
      this.composer.focus();
    },
  );
  private readonly title = h("button", { class: "title quiet-button", type: "button", title: "Conversations" });
  private readonly welcome = welcome((text) => {
    this.send(this.draft(text, null), false);
  });
  /** What is shown, or will be as soon as the host has loaded it. */
  private shown: Pick<Saved, "conversationId" | "leaf"> = { conversationId: "", leaf: "" };
  private kept: Readonly<Record<string, unknown>> = {};
  /** What was shown last around the transcript. */
  private around: Readonly<Record<string, unknown>> = {};
  private readonly said = h("div", { class: "said", role: "status" });

  start(): void {
    this.title.addEventListener("click", () => {
      this.conversations.open();
    });
    const adding = h(
      "button",
      { class: "icon-button", type: "button", title: "New chat", "aria-label": "New chat" },
      icon("add"),
    );
    adding.addEventListener("click", () => {
      this.post({ type: "new" });
    });
    document.body.append(
      h("header", { class: "bar" }, this.title, adding),
      h(
        "main",
        {},
        this.welcome,
        this.transcript.element,
        this.composer.element,
        this.conversations.element,
        this.models.element,
      ),
      this.said,
    );
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.isComposing && this.isRunning) this.post({ type: "stop" });
    });
    // The editor brings the view to the front, but does not know where one writes.
    window.addEventListener("focus", () => {
      this.takeFocus();
    });
    window.addEventListener("message", (event: MessageEvent<ToView>) => {
      this.receive(event.data);
    });
    const { draft = "", conversationId = "", leaf = "" } = this.host.getState() ?? {};
    this.shown = { conversationId, leaf };
    this.render();
    this.composer.write(draft);
    if (document.hasFocus()) this.takeFocus();
    this.post({ type: "ready", conversationId, leaf });
  }

  private takeFocus(): void {
    if (document.activeElement === document.body) this.composer.focus();
  }

  private receive(message: ToView): void {
    switch (message.type) {
      case "conversation":
        if (message.conversation.id !== this.conversation.id) this.composer.forgetEdited();
        this.transcript.hush();
        this.showConversation(message.conversation, message.isRunning);
        this.transcript.scrolling.goToEnd();
        return;
      case "changes":
        this.showConversation(message.changes.reduce(apply, this.conversation), message.isRunning);
        if (message.changes.some((change) => change.type === "asked")) this.transcript.scrolling.goToEnd();
        return;
      case "surroundings":
        this.surroundings = message.surroundings;
        this.render();
        return;
      case "conversations":
        this.conversations.show(message.conversations);
        return;
      case "models":
        this.models.show({ models: [...message.models], errors: message.errors });
        return;
      case "suggestions":
        this.composer.suggest(message.for, message.suggestions);
        return;
      case "progress":
        this.transcript.showProgress(message.message);
        return;
      case "show":
        this.open(message);
        return;
      default:
        unreachable(message);
    }
  }

  private open({ what, text }: Extract<ToView, { type: "show" }>): void {
    if (what === "conversations") this.conversations.open();
    else if (what === "models") this.models.open();
    else {
      this.conversations.close();
      if (text !== undefined) this.composer.write(text);
      this.composer.focus();
    }
  }

  private showConversation(conversation: Conversation, isRunning: boolean): void {
    if (this.isRunning && !isRunning && conversation.id === this.conversation.id) this.say("The answer is complete.");
    this.conversation = conversation;
    this.isRunning = isRunning;
    this.shown = { conversationId: conversation.id, leaf: conversation.leaf };
    this.save();
    this.render();
  }

  /** Called for every change of a running answer: what has not changed is left alone. */
  private render(): void {
    const { conversation, surroundings, isRunning } = this;
    const steps = path(conversation);
    const title = conversation.title || "New chat";
    const context = steps.findLast((response) => response.context)?.context ?? null;
    this.transcript.show(conversation, surroundings.kraken === "ready" && !isRunning);
    this.around = once(this.around, { title, surroundings, context, isRunning, isEmpty: steps.length === 0 }, () => {
      this.welcome.hidden = steps.length > 0;
      this.transcript.element.hidden = steps.length === 0;
      this.title.replaceChildren(h("span", { text: title }), icon("chevron"));
      this.title.setAttribute("aria-label", `${title}. Show all conversations`);
      this.composer.show(surroundings, context);
      this.composer.showRunning(isRunning);
    });
  }

  private send(draft: Draft, isRelease: boolean): void {
    this.post({ type: "send", ...draft, isRelease });
  }

  /** A new question, or the one of an earlier response again. */
  private draft(text: string, earlier: Response | null): Draft {
    return {
      text,
      parent: earlier ? earlier.parent : this.conversation.leaf,
      again: earlier?.key ?? "",
      images: earlier?.isContextKept ? [] : this.composer.images,
    };
  }

  private again(response: Response, isRelease: boolean): void {
    const first = response.isSecondTry
      ? this.conversation.responses.find(({ key }) => key === response.parent)
      : response;
    if (this.isRunning) this.composer.askToWait();
    else this.send(this.draft(response.question, first ?? response), isRelease);
    this.composer.focus();
  }

  private say(text: string): void {
    this.said.textContent = text;
  }

  private save(): void {
    const saved = { ...this.shown, draft: this.composer.text };
    this.kept = once(this.kept, saved, () => {
      this.host.setState(saved);
    });
  }
}

/** Do something when any of these values is another one than before. */
function once<T extends Readonly<Record<string, unknown>>>(
  before: Readonly<Record<string, unknown>>,
  now: T,
  act: () => void,
): T {
  if (Object.entries(now).some(([name, value]) => before[name] !== value)) act();
  return now;
}

new ChatView().start();
