/** What can be done with a block of code: copy, insert, apply. Changes are edits of the editor, which can be undone. */
import * as vscode from "vscode";
import type { Ask } from "../permission";
import { unreachable, type PermissionParams } from "../protocol";
import { fileOf } from "./fence";
import { filesNamed } from "./files";
import type { CodeAction } from "./messages";
import { inserted, place, type Placement, type Target } from "./placement";

/** Counts what was asked: questions need an id. */
let questions = 0;

/** How long the user is shown what was written, and told. */
const SHOWN_MS = 5_000;

/** Gives the user's words for the model, where they want something else than what it wrote. */
export async function useCode(action: CodeAction, code: string, info: string, ask: Ask): Promise<string | undefined> {
  switch (action) {
    case "copy":
      await vscode.env.clipboard.writeText(code);
      return undefined;
    case "insert":
      return change(await activeEditor(), (target) => inserted(code, target), [], ask);
    case "apply": {
      const file = fileOf(info);
      const editor = file ? await editorOf(file) : await activeEditor();
      if (!editor) return undefined;
      const symbols = await definitions(editor.document);
      return change(editor, (target) => place(code, target), symbols, ask);
    }
    default:
      return unreachable(action);
  }
}

async function change(
  editor: vscode.TextEditor,
  placed: (target: Target) => Placement,
  symbols: Target["symbols"],
  ask: Ask,
): Promise<string | undefined> {
  const { document } = editor;
  const selection = [document.offsetAt(editor.selection.start), document.offsetAt(editor.selection.end)] as const;
  const { start, end, text, isRewrite } = placed({ text: document.getText(), selection, symbols });
  let range = new vscode.Range(document.positionAt(start), document.positionAt(end));
  const name = vscode.workspace.asRelativePath(document.uri);
  if (isRewrite) {
    const { optionId, feedback } = await ask(question(document, name, text));
    if (optionId !== "allow_once") return feedback;
    // The user saw the document as it was when they said yes, whatever has been typed since they were asked.
    range = new vscode.Range(document.positionAt(0), document.positionAt(document.getText().length));
  }
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, range, text);
  if (!(await vscode.workspace.applyEdit(edit))) {
    void vscode.window.showErrorMessage(`${name} could not be changed.`);
    return undefined;
  }
  const written = new vscode.Range(document.positionAt(start), document.positionAt(start + text.length));
  // Behind it, and not a selection, which the next block would replace.
  const shown = await vscode.window.showTextDocument(document, {
    viewColumn: editor.viewColumn ?? vscode.ViewColumn.Active,
    selection: new vscode.Range(written.end, written.end),
  });
  shown.revealRange(written, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  highlight(shown, written);
  vscode.window.setStatusBarMessage(`Changed ${name}. Undo takes it back.`, SHOWN_MS);
  return undefined;
}

function highlight(editor: vscode.TextEditor, range: vscode.Range): void {
  const mark = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor("editor.rangeHighlightBackground"),
  });
  editor.setDecorations(mark, [range]);
  setTimeout(() => {
    mark.dispose();
  }, SHOWN_MS);
}

/** Nobody sees at a glance what becomes of a whole document. */
function question({ uri, version }: vscode.TextDocument, name: string, newText: string): PermissionParams {
  return {
    id: `apply-${++questions}`,
    title: `Replace all of ${name}`,
    kind: "edit",
    detail: "",
    options: [
      { id: "allow_once", label: "Replace" },
      { id: "reject_once", label: "Keep as it is" },
    ],
    changes: [{ uri: uri.toString(), version, diff: "", newText }],
  };
}

async function activeEditor(): Promise<vscode.TextEditor> {
  return vscode.window.activeTextEditor ?? vscode.window.showTextDocument(await vscode.workspace.openTextDocument());
}

/** The editor of the file that a block names. Where several files or none may be meant, the user says which. */
async function editorOf(file: string): Promise<vscode.TextEditor | undefined> {
  const active = vscode.window.activeTextEditor;
  if (active?.document.uri.path.endsWith(`/${file}`)) return active;
  const found = await filesNamed(file);
  const [only] = found;
  if (!only) return missing(file, active);
  const wanted = found.length === 1 ? only : await oneOf(found, file);
  return wanted && vscode.window.showTextDocument(wanted);
}

async function oneOf(found: readonly vscode.Uri[], file: string): Promise<vscode.Uri | undefined> {
  const rows = found.map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }));
  return (await vscode.window.showQuickPick(rows, { title: `Which ${file} is it for?` }))?.uri;
}

/** What is not there begins as a document that is not saved. */
async function missing(file: string, active: vscode.TextEditor | undefined): Promise<vscode.TextEditor | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  const uri = folder && vscode.Uri.joinPath(folder.uri, file);
  const create = uri && vscode.workspace.getWorkspaceFolder(uri) ? `Create ${file}` : undefined;
  const use = active && `Use ${vscode.workspace.asRelativePath(active.document.uri)}`;
  const answers = [create, use].filter((answer) => answer !== undefined);
  const question = `The code is for ${file}, which this workspace does not have.`;
  const answer = await vscode.window.showInformationMessage(question, ...answers);
  if (answer === undefined) return undefined;
  if (answer === use) return active;
  return uri && vscode.window.showTextDocument(uri.with({ scheme: "untitled" }));
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
