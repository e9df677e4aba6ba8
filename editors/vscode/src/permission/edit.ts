/** A text that the user may change in an untitled editor, until they say that they are done. */
import * as vscode from "vscode";

const EDITING = "ollm.editingBriefing";
const DONE = "Use this text";

export class TextEdit {
  private readonly listener: vscode.Disposable;
  private settle: (text: string | undefined) => void = () => undefined;
  /** What it was changed to; undefined when the user gave up. */
  readonly finished = new Promise<string | undefined>((resolve) => (this.settle = resolve));

  private constructor(private readonly document: vscode.TextDocument) {
    this.listener = vscode.workspace.onDidCloseTextDocument((closed) => {
      if (closed === document) this.settle(undefined);
    });
  }

  static async open(text: string): Promise<TextEdit> {
    const edit = new TextEdit(await vscode.workspace.openTextDocument({ language: "markdown", content: text }));
    await edit.show();
    await vscode.commands.executeCommand("setContext", EDITING, true);
    void vscode.window
      .showInformationMessage("Change what is shared as you like, then use it.", DONE)
      .then((chosen) => {
        if (chosen === DONE) edit.finish();
      });
    return edit;
  }

  /** As it is in the editor now. */
  get text(): string {
    return this.document.getText();
  }

  async show(): Promise<void> {
    await vscode.window.showTextDocument(this.document, { preview: false });
  }

  finish(): void {
    this.settle(this.text);
  }

  /** An untitled document asks whether it should be saved, unless it is empty. */
  async close(): Promise<void> {
    this.listener.dispose();
    await vscode.commands.executeCommand("setContext", EDITING, false);
    const { document } = this;
    if (document.isClosed) return;
    const edit = new vscode.WorkspaceEdit();
    edit.delete(document.uri, new vscode.Range(0, 0, document.lineCount, 0));
    await vscode.workspace.applyEdit(edit);
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === document.uri.toString());
    await vscode.window.tabGroups.close(tabs);
  }
}
