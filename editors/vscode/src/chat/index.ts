/** The chat view. */
import * as vscode from "vscode";
import type { Ask } from "../permission";
import type { ChatSendResult, Place } from "../protocol";
import type { Server } from "../server";
import { ChatController } from "./controller";
import type { Run } from "./openChat";

export interface Chat extends vscode.Disposable {
  /**
   * Shows the view, and in it the answer to something that was asked elsewhere about a place, such as "Explain greeting.py":
   * `run` gets where its events and progress go, and the token of the view's stop button. The conversation can be continued
   * in the view.
   */
  stream(title: string, about: Place, run: Run): Promise<ChatSendResult>;
}

export function registerChat(context: vscode.ExtensionContext, server: Server, ask: Ask): Chat {
  const controller = new ChatController(context, server, ask);
  const commands: Readonly<Record<string, (...given: never[]) => unknown>> = {
    "ollm.chat.new": () => controller.startNew(),
    "ollm.chat.conversations": () => controller.show("conversations"),
    "ollm.chat.model": () => controller.show("models"),
    "ollm.chat.stopAnswer": () => {
      controller.stop();
    },
    // The explorer brings the file that was clicked, and all that are selected; other menus something else, or nothing.
    "ollm.chat.attachFile": (clicked?: vscode.Uri, selected?: unknown) => {
      const wanted = clicked ?? vscode.window.activeTextEditor?.document.uri;
      const all = Array.isArray(selected) ? (selected as vscode.Uri[]) : [];
      return wanted && controller.attachFiles(all.length > 0 ? all : [wanted]);
    },
    "ollm.chat.attachSelection": () => {
      const editor = vscode.window.activeTextEditor;
      return editor && controller.attachSelection(editor);
    },
  };
  const registered = Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, run));
  return {
    stream: (title, about, run) => controller.stream(title, about, run),
    dispose: () => {
      vscode.Disposable.from(controller, ...registered).dispose();
    },
  };
}
