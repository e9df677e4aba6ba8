/** What the user does in the view becomes requests to the server, and what the server tells is shown in the view. */
import * as vscode from "vscode";
import type { Ask } from "../permission";
import { unreachable, type ChatContext, type ChatSendParams, type ChatSendResult, type Place } from "../protocol";
import { ServerError, type Server } from "../server";
import { shown } from "../shown";
import { Attachments, placeNames } from "./attachments";
import { parentId, placeFor } from "./branches";
import { useCode } from "./codeBlocks";
import { EMPTY, type Conversation } from "./conversation";
import { workspaceFiles } from "./files";
import { openLink, openLocation } from "./links";
import type { Draft, FromView } from "./messages";
import { OpenChat, type Asked, type Run } from "./openChat";
import { suggest } from "./orders";
import { restored } from "./stored";
import { ChatWebview } from "./webview";

const MODEL = "ollm.chat.model";

export class ChatController implements vscode.Disposable {
  private readonly webview: ChatWebview;
  private readonly attachments = new Attachments();
  private readonly listening: readonly vscode.Disposable[];
  private current: OpenChat;
  /** Those that answer while another one is shown. */
  private readonly away = new Set<OpenChat>();
  /** Counts what the user wants to see, so that what was asked for earlier and comes late is not shown any more. */
  private wishes = 0;
  /** Whether what is shown was chosen in this window, be it a new chat; else the view brings what it showed before. */
  private isChosen = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly server: Server,
    private readonly ask: Ask,
  ) {
    this.current = this.open(EMPTY);
    this.webview = new ChatWebview(context.extensionUri, (message) => {
      // The editor shows what a command throws, but nobody what comes of a message.
      shown(this.receive(message)).catch((error: unknown) => vscode.window.showErrorMessage(String(error)));
    });
    const tell = (): void => {
      this.tellSurroundings();
    };
    this.listening = [
      this.webview,
      this.attachments,
      this.attachments.onDidChange(tell),
      server.onStatus(tell),
      server.onDidChangeState(tell),
      vscode.workspace.onDidChangeConfiguration((change) => {
        // Whoever changes the model for everything means the chat, too.
        if (change.affectsConfiguration("ollm.model")) void this.chooseModel("");
      }),
    ];
  }

  dispose(): void {
    for (const chat of [this.current, ...this.away]) chat.stop();
    for (const one of this.listening) one.dispose();
  }

  /** Show an answer to what was asked elsewhere about a place, in a conversation of its own. */
  async stream(title: string, about: Place, run: Run): Promise<ChatSendResult> {
    const chat = this.open(EMPTY);
    this.showChat(chat);
    const asked = { question: title, parent: "", attached: placeNames(about), context: about, isTitle: true };
    const answer = chat.ask(asked, run);
    const [result] = await Promise.all([answer, this.webview.show({ type: "show", what: "composer" })]);
    return result;
  }

  async startNew(): Promise<void> {
    this.showChat(this.open(EMPTY));
    await this.webview.show({ type: "show", what: "composer" });
  }

  async show(what: "conversations" | "models" | "composer", text?: string): Promise<void> {
    await this.webview.show({ type: "show", what, ...(text !== undefined && { text }) });
  }

  stop(): void {
    this.current.stop();
  }

  async attachFiles(uris: readonly vscode.Uri[]): Promise<void> {
    this.attachments.attachFiles(uris);
    await this.show("composer");
  }

  async attachSelection(editor: vscode.TextEditor): Promise<void> {
    this.attachments.attachSelection(editor);
    await this.show("composer");
  }

  private async receive(message: FromView): Promise<void> {
    switch (message.type) {
      case "ready":
        return this.ready(message.conversationId, message.leaf);
      case "send":
        return this.send(message);
      case "context":
        return this.showContext(message);
      case "stop":
        this.stop();
        return;
      case "choose":
        this.current.change({ type: "chosen", leaf: message.leaf });
        return;
      case "new":
        return this.startNew();
      case "list":
        return this.list();
      case "open":
        return this.openKept(message.conversationId);
      case "rename":
        return this.rename(message.conversationId, message.title);
      case "delete":
        return this.delete(message.conversationId, message.title);
      case "listModels":
        this.webview.tell({ type: "models", ...(await this.server.request("ollm/models/list", {})) });
        return;
      case "model":
        return this.chooseModel(message.model);
      case "attach":
        await this.attachments.pick();
        return this.show("composer");
      case "detach":
        this.attachments.detach(message.uri);
        return;
      case "detachSelection":
        this.attachments.detachSelection();
        return;
      case "sendPlace":
        this.attachments.sendPlace(message.isSent);
        return;
      case "suggest":
        this.webview.tell({
          type: "suggestions",
          for: message.for,
          suggestions: await suggest(message.for, workspacePaths),
        });
        return;
      case "code":
        return this.useCode(message);
      case "copy":
        return vscode.env.clipboard.writeText(message.text);
      case "link":
        return openLink(message.href);
      case "location":
        return openLocation(vscode.Uri.parse(message.uri, true), message.line);
      case "review":
        await vscode.commands.executeCommand("ollm.permission.show");
        return;
      case "server":
        await vscode.commands.executeCommand(`ollm.server.${message.action}`);
        return;
      default:
        return unreachable(message);
    }
  }

  /** Words for the model are the user's next message. */
  private async useCode({ action, code, info }: Extract<FromView, { type: "code" }>): Promise<void> {
    const words = await useCode(action, code, info, this.ask);
    if (words) await this.show("composer", words);
  }

  private async ready(conversationId: string, leaf: string): Promise<void> {
    this.tellSurroundings();
    if (this.isChosen || !this.current.isEmpty || conversationId === "") this.tellConversation();
    else
      await this.openKept(conversationId, leaf).catch((error: unknown) => {
        if (!(error instanceof ServerError && error.isLost)) throw error;
        this.tellConversation();
      });
  }

  private async send({ isRelease, ...draft }: Extract<FromView, { type: "send" }>): Promise<void> {
    const chat = this.current;
    const { text } = draft;
    if (chat.isRunning) {
      // The view did not know it yet, and has emptied its field.
      this.webview.tell({ type: "show", what: "composer", text });
      return;
    }
    this.wishes += 1;
    const origin = chat.origin(draft.again);
    const { asked, params } = this.composed(draft);
    const model = this.chosenModel;
    try {
      if (origin?.asked.isTitle && !isRelease && text === origin.asked.question) {
        await this.stream(text, origin.asked.context, origin.run);
        return;
      }
      if (asked.context !== origin?.asked.context) this.attachments.clear();
      await chat.ask(asked, (options) =>
        isRelease
          ? this.server.request("ollm/kraken/release", params, options)
          : this.server.request("ollm/chat/send", { ...params, ...(model && { model }) }, options),
      );
      await this.obey(chat, text);
    } catch (error) {
      // It is shown in the conversation.
      if (!(error instanceof ServerError)) throw error;
    }
  }

  /** Nothing is sent, so that nothing that was attached is used up, and an answer may run meanwhile. */
  private async showContext(draft: Draft): Promise<void> {
    const running = this.current.isRunning ? this.current.conversation.responses.at(-1) : undefined;
    // Nothing can follow an answer that is not complete.
    const parent = draft.parent === running?.key ? running.parent : draft.parent;
    const { context, ...params } = this.composed({ ...draft, parent }).params;
    const model = this.chosenModel;
    await vscode.commands.executeCommand("ollm.context.show", { ...context, ...params, ...(model && { model }) });
  }

  /** A question as it is shown, and as the server gets it. With one that is asked again goes what went with it before. */
  private composed({ text, parent, again, images }: Draft): {
    asked: Asked;
    params: ChatSendParams & { context: ChatContext };
  } {
    const { conversation } = this.current;
    const place = placeFor(conversation, parent);
    const before = this.current.origin(again)?.asked;
    const pictures = images.map((_, index) => `Picture ${index + 1}`);
    const { context, attached } = before ?? {
      context: this.attachments.context(images),
      attached: [...this.attachments.names, ...pictures],
    };
    const { id } = conversation;
    const follows = id !== "" && { conversationId: id, parentId: parentId(conversation, place) };
    return { asked: { question: text, parent: place, attached, context }, params: { text, ...follows, context } };
  }

  /** Some orders change what is shown here. */
  private async obey(chat: OpenChat, text: string): Promise<void> {
    const model = /^\s*\/model\s+(\S+)\s*$/i.exec(text)?.[1];
    if (model !== undefined) {
      chat.change({ type: "model", model });
      await this.chooseModel(model);
    }
    if (!/^\s*\/compact\b/i.test(text)) return;
    chat.conversation = restored(await this.server.request("ollm/chat/get", { conversationId: chat.conversation.id }));
    if (chat === this.current) this.tellConversation();
  }

  private async list(): Promise<void> {
    this.webview.tell({ type: "conversations", ...(await this.server.request("ollm/chat/list", {})) });
  }

  private async openKept(conversationId: string, leaf = ""): Promise<void> {
    const wish = ++this.wishes;
    const running = [this.current, ...this.away].find((chat) => chat.conversation.id === conversationId);
    if (running) {
      this.showChat(running);
      return;
    }
    const kept = restored(await this.server.request("ollm/chat/get", { conversationId }));
    if (wish !== this.wishes) return;
    const isKnown = kept.responses.some((response) => response.key === leaf);
    this.showChat(this.open(isKnown ? { ...kept, leaf } : kept));
  }

  private async rename(conversationId: string, title: string): Promise<void> {
    await this.server.request("ollm/chat/rename", { conversationId, title });
    if (this.current.conversation.id === conversationId) this.current.change({ type: "titled", title });
  }

  private async delete(conversationId: string, title: string): Promise<void> {
    const question = `Delete the conversation “${title}”?`;
    const answer = await vscode.window.showWarningMessage(
      question,
      { modal: true, detail: "This cannot be undone." },
      "Delete",
    );
    if (answer !== "Delete") return;
    await this.server.request("ollm/chat/delete", { conversationId });
    if (this.current.conversation.id === conversationId) this.showChat(this.open(EMPTY));
    await this.list();
  }

  private get chosenModel(): string {
    return this.context.workspaceState.get<string>(MODEL, "");
  }

  private async chooseModel(model: string): Promise<void> {
    await this.context.workspaceState.update(MODEL, model);
    this.tellSurroundings();
  }

  private open(conversation: Conversation): OpenChat {
    return new OpenChat(
      conversation,
      (chat, changes) => {
        if (!chat.isRunning) this.away.delete(chat);
        if (chat === this.current) this.webview.tell({ type: "changes", changes, isRunning: chat.isRunning });
      },
      (chat, message) => {
        if (chat === this.current) this.webview.tell({ type: "progress", message });
      },
    );
  }

  private showChat(chat: OpenChat): void {
    if (this.current.isRunning && chat !== this.current) this.away.add(this.current);
    this.away.delete(chat);
    this.current = chat;
    this.wishes += 1;
    this.isChosen = true;
    this.tellConversation();
    this.tellSurroundings();
  }

  private tellConversation(): void {
    const { conversation, isRunning } = this.current;
    this.current.forgetUntold();
    this.webview.tell({ type: "conversation", conversation, isRunning });
  }

  private tellSurroundings(): void {
    const { status, state } = this.server;
    const model = this.chosenModel || this.current.conversation.model || (status?.model ?? "");
    const surroundings = { ...this.attachments.shown, model, kraken: status?.kraken ?? "none", server: state } as const;
    this.webview.tell({ type: "surroundings", surroundings });
  }
}

async function workspacePaths(): Promise<readonly string[]> {
  return (await workspaceFiles()).map((uri) => vscode.workspace.asRelativePath(uri));
}
