/** A text that the user may change in an untitled editor, until they say that they are done. */
import * as vscode from "vscode";

/** What it was changed to; undefined when the user gave up, or `over` came first. */
export async function editText(text: string, over: Promise<unknown>): Promise<string | undefined> {
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content: text });
  await vscode.window.showTextDocument(document, { preview: false });
  const done = "Use this text";
  const disposables: vscode.Disposable[] = [];
  await vscode.commands.executeCommand("setContext", "ollm.editingBriefing", true);
  try {
    const finished = new Promise<string | undefined>((resolve) => {
      disposables.push(
        vscode.commands.registerCommand("ollm.permission.useText", () => {
          resolve(document.getText());
        }),
        vscode.workspace.onDidCloseTextDocument((closed) => {
          if (closed === document) resolve(undefined);
        }),
      );
      void vscode.window
        .showInformationMessage("Change what is shared as you like, then use it.", done)
        .then((chosen) => {
          if (chosen === done) resolve(document.getText());
        });
    });
    return await Promise.race([finished, over.then(() => undefined)]);
  } finally {
    await vscode.commands.executeCommand("setContext", "ollm.editingBriefing", false);
    vscode.Disposable.from(...disposables).dispose();
    await closeUntitled(document);
  }
}

/** An untitled document asks whether it should be saved, unless it is empty. */
async function closeUntitled(document: vscode.TextDocument): Promise<void> {
  if (document.isClosed) return;
  const edit = new vscode.WorkspaceEdit();
  edit.delete(document.uri, new vscode.Range(0, 0, document.lineCount, 0));
  await vscode.workspace.applyEdit(edit);
  const tabs = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === document.uri.toString());
  await vscode.window.tabGroups.close(tabs);
}
