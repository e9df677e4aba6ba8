/** The files of the workspace that a question may be about. */
import * as vscode from "vscode";

const MOST = 5000;
/** How long a list is good for, in milliseconds: as long as one types a name. */
const FRESH = 5000;
/** What tools put into a project. Without this, the list is full before the project's own files are found. */
const FOREIGN = ["node_modules", ".venv", "venv", "__pycache__", ".git"].map((name) => `**/${name}/**`);

let last: { readonly at: number; readonly found: Thenable<readonly vscode.Uri[]> } | undefined;

/** All files but those that the user does not want to see or to search. */
export function workspaceFiles(): Thenable<readonly vscode.Uri[]> {
  if (last && Date.now() - last.at < FRESH) return last.found;
  last = { at: Date.now(), found: find("**/*") };
  return last.found;
}

/** Those that a path, or the end of one, may mean; a whole path also means what is not wanted in lists. */
export async function filesNamed(path: string): Promise<readonly vscode.Uri[]> {
  const found = await find(`**/${path}`);
  if (found.length > 0) return found;
  const paths = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => vscode.Uri.joinPath(uri, path));
  const areThere = await Promise.all(paths.map(isThere));
  return paths.filter((_, index) => areThere[index]);
}

async function isThere(uri: vscode.Uri): Promise<boolean> {
  if (!vscode.workspace.getWorkspaceFolder(uri)) return false;
  return Promise.resolve(vscode.workspace.fs.stat(uri)).then(
    () => true,
    () => false,
  );
}

function find(pattern: string): Thenable<readonly vscode.Uri[]> {
  const exclude = `{${[...FOREIGN, ...unwanted("files"), ...unwanted("search")].join(",")}}`;
  return vscode.workspace.findFiles(pattern, exclude, MOST);
}

function unwanted(section: "files" | "search"): readonly string[] {
  const patterns = vscode.workspace.getConfiguration(section).get<Readonly<Record<string, unknown>>>("exclude", {});
  return Object.entries(patterns).flatMap(([pattern, isOn]) => (isOn === true ? spelledOut(pattern) : []));
}

/** A pattern without braces, because not every search understands braces within braces. */
function spelledOut(pattern: string): readonly string[] {
  const [braces, inside] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  if (braces === undefined || inside === undefined) return [pattern];
  return inside.split(",").flatMap((part) => spelledOut(pattern.replace(braces, () => part)));
}
