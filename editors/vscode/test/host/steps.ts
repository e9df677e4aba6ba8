/** What the tests inside VS Code do and wait for. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { Exports } from "../../src/extension";

export const FILE = "greeting.py";
export const TEXT = 'def greet(name):\n    """Grüße, wie es sich gehört."""\n    return f"Hello, {name}!"\n';

/** The extension, with a server that runs. */
export async function ready(): Promise<Exports["server"]> {
  const extension = vscode.extensions.getExtension<Exports>("ollm.ollm-lsp");
  if (!extension) throw new Error("the extension is not there");
  const { server } = await extension.activate();
  await server.start();
  return server;
}

export function folder(): vscode.Uri {
  const first = vscode.workspace.workspaceFolders?.[0];
  if (!first) throw new Error("no folder is open");
  return first.uri;
}

export function file(name = FILE): vscode.Uri {
  return vscode.Uri.joinPath(folder(), name);
}

/** Opens the file with its first text, whatever an earlier test has left. */
export async function openFile(name = FILE, text = TEXT): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(file(name));
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  if (document.getText() !== text) {
    const all = new vscode.Range(0, 0, document.lineCount, 0);
    await editor.edit((edit) => {
      edit.replace(all, text);
    });
    await document.save();
  }
  return editor;
}

export async function until(condition: () => unknown, what: string): Promise<void> {
  const end = Date.now() + 100_000;
  while (!(await condition())) {
    if (Date.now() > end)
      throw new Error(
        `did not happen: ${what}\ntabs: ${tabs()
          .map(({ label }) => label)
          .join(", ")}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function tabs(): vscode.Tab[] {
  return vscode.window.tabGroups.all.flatMap((group) => group.tabs);
}

/** The tab that a question of ollm is about. */
export function questionTab(): vscode.Tab | undefined {
  return tabs().find(({ input }) => {
    if (input instanceof vscode.TabInputTextDiff) return input.modified.scheme === "ollm-proposal";
    return input instanceof vscode.TabInputText && input.uri.scheme === "ollm-proposal";
  });
}

export async function asked(): Promise<vscode.Tab> {
  await until(questionTab, "a question");
  const tab = questionTab();
  if (!tab) throw new Error("the question has gone");
  return tab;
}

/** The proposed text of the diff. */
export async function proposed(): Promise<{ before: string; after: string; name: string }> {
  const { input } = await asked();
  if (!(input instanceof vscode.TabInputTextDiff)) throw new Error("not a diff");
  const [before, after] = await Promise.all(
    [input.original, input.modified].map(async (uri) => (await vscode.workspace.openTextDocument(uri)).getText()),
  );
  return { before: before ?? "", after: after ?? "", name: path.posix.basename(input.modified.path) };
}

export function run<T>(command: string, ...args: unknown[]): Thenable<T> {
  return vscode.commands.executeCommand<T>(command, ...args);
}

/** Without the question whether something should be saved. */
export async function closeAll(): Promise<void> {
  await vscode.workspace.saveAll();
  await run("workbench.action.closeAllEditors");
}

/** The tests are another bundle than the extension, so classes are no help. */
export function isCancelled(error: unknown): boolean {
  return (error as { code?: unknown }).code === "cancelled";
}
