/** The webview in the side bar: its page, and the messages from and to it. It may come and go at any time. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { FromView, ToView } from "./messages";
import { page } from "./page";

export const VIEW_ID = "ollm.chat";

export class ChatWebview implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private isReady = false;
  /** What the view shall do as soon as it is there. */
  private waiting: ToView[] = [];
  private readonly registration: vscode.Disposable;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly receive: (message: FromView) => void,
  ) {
    // What is half written, unfolded or scrolled to would be lost whenever the side bar shows something else.
    const webviewOptions = { retainContextWhenHidden: true };
    this.registration = vscode.window.registerWebviewViewProvider(VIEW_ID, this, { webviewOptions });
  }

  dispose(): void {
    this.registration.dispose();
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { webview } = view;
    const dist = vscode.Uri.joinPath(this.extensionUri, "dist");
    this.view = view;
    this.isReady = false;
    webview.options = { enableScripts: true, enableForms: false, enableCommandUris: false, localResourceRoots: [dist] };
    webview.onDidReceiveMessage((message: FromView) => {
      if (message.type === "ready") this.isReady = true;
      this.receive(message);
      if (message.type === "ready") this.sendWaiting();
    });
    view.onDidDispose(() => {
      if (this.view !== view) return;
      this.view = undefined;
      this.isReady = false;
    });
    webview.html = page({
      script: webview.asWebviewUri(vscode.Uri.joinPath(dist, "chat.js")).toString(),
      style: webview.asWebviewUri(vscode.Uri.joinPath(dist, "chat.css")).toString(),
      source: webview.cspSource,
      nonce: randomBytes(16).toString("hex"),
    });
  }

  /** Tell the view; nothing where there is none, because a new one asks for all that it shows. */
  tell(message: ToView): void {
    if (this.isReady) void this.view?.webview.postMessage(message);
  }

  /** Bring the view to the front, and then tell it something. */
  async show(message: ToView): Promise<void> {
    this.waiting.push(message);
    await vscode.commands.executeCommand(`${VIEW_ID}.focus`);
    if (this.isReady) this.sendWaiting();
  }

  private sendWaiting(): void {
    for (const message of this.waiting.splice(0)) this.tell(message);
  }
}
