/** Virtual documents that a question is about: the proposed text of files, and the words of everything else. */
import * as vscode from "vscode";

export const SCHEME = "ollm-proposal";

export class ProposedDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** `path` names the tab and tells the editor the language. */
  add(question: string, side: "old" | "new" | "text", path: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, authority: `${question}.${side}`, path });
    this.texts.set(uri.toString(), text);
    return uri;
  }

  forget(question: string): void {
    for (const key of this.texts.keys())
      if (vscode.Uri.parse(key).authority.startsWith(`${question}.`)) this.texts.delete(key);
  }

  dispose(): void {
    this.registration.dispose();
  }
}
