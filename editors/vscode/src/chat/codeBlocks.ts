/** What can be done with a block of code: copy, insert, apply. Changes are edits of the editor, which can be undone. */
import * as vscode from "vscode";
import { unreachable } from "../protocol";
import { fileOf } from "./fence";
import type { CodeAction } from "./messages";
import { inserted, place, type Placement, type Target } from "./placement";

export async function useCode(action: CodeAction, code: string, info: string): Promise<void> {
  switch (action) {
    case "copy":
      await vscode.env.clipboard.writeText(code);
      return;
    case "insert":
      return change(await editorFor(""), (target) => inserted(code, target), false);
    case "apply":
      return change(await editorFor(fileOf(info)), (target) => place(code, target), true);
    default:
      return unreachable(action);
  }
}

async function change(
  editor: vscode.TextEditor,
  placed: (target: Target) => Placement,
  needsSymbols: boolean,
): Promise<void> {
  const { document } = editor;
  const symbols = needsSymbols ? await definitions(document) : [];
  const selection = [document.offsetAt(editor.selection.start), document.offsetAt(editor.selection.end)] as const;
  const { start, end, text, isRewrite } = placed({ text: document.getText(), selection, symbols });
  const range = new vscode.Range(document.positionAt(start), document.positionAt(end));
  const name = vscode.workspace.asRelativePath(document.uri);
  const before = document.version;
  const isDone = isRewrite
    ? await rewrite(document, range, text)
    : await editor.edit((edit) => {
        edit.replace(range, text);
      });
  // Of a rewrite the editor does not tell whether the user wanted it.
  if (isRewrite && document.version === before) return;
  if (!isDone) {
    void vscode.window.showErrorMessage(`${name} could not be changed.`);
    return;
  }
  const changed = new vscode.Range(document.positionAt(start), document.positionAt(start + text.length));
  const shown = await vscode.window.showTextDocument(document, {
    viewColumn: editor.viewColumn ?? vscode.ViewColumn.Active,
    selection: changed,
  });
  shown.revealRange(changed, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  vscode.window.setStatusBarMessage(`Changed ${name}. Undo takes it back.`, 5000);
}

/** Replace a whole document, after the editor has shown what becomes of it. */
function rewrite(document: vscode.TextDocument, range: vscode.Range, text: string): Thenable<boolean> {
  const edit = new vscode.WorkspaceEdit();
  const label = `Replace all of ${vscode.workspace.asRelativePath(document.uri)}`;
  edit.replace(document.uri, range, text, { label, needsConfirmation: true });
  return vscode.workspace.applyEdit(edit);
}

/** The editor of the file that the block names, where it is one of the workspace; else the active one, or a new one. */
async function editorFor(file: string): Promise<vscode.TextEditor> {
  const active = vscode.window.activeTextEditor;
  if (file && active?.document.uri.path.endsWith(`/${file}`)) return active;
  const found = file ? await vscode.workspace.findFiles(`**/${file}`, undefined, 2) : [];
  const [only] = found;
  if (only && found.length === 1) return vscode.window.showTextDocument(only);
  if (active) return active;
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument());
}

async function definitions(document: vscode.TextDocument): Promise<Target["symbols"]> {
  type Found = readonly (vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined;
  const found = await vscode.commands.executeCommand<Found>("vscode.executeDocumentSymbolProvider", document.uri);
  return flattened(found ?? []).map(({ name, range }) => ({
    name,
    start: document.offsetAt(range.start),
    end: document.offsetAt(range.end),
  }));
}

function flattened(
  symbols: readonly (vscode.DocumentSymbol | vscode.SymbolInformation)[],
): { name: string; range: vscode.Range }[] {
  return symbols.flatMap((symbol) =>
    "children" in symbol
      ? [{ name: symbol.name, range: symbol.range }, ...flattened(symbol.children)]
      : [{ name: symbol.name, range: symbol.location.range }],
  );
}
