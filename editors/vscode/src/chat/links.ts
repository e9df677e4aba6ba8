/** Links of an answer. Whatever leads out of the editor is asked for; files are opened inside the workspace only. */
import { posix } from "node:path";
import * as vscode from "vscode";
import { fileLink, sameDrive } from "./fileLink";

/** Open a link that a model wrote. */
export async function openLink(href: string): Promise<void> {
  if (/^(https?|mailto):/i.test(href)) return openOutside(href);
  const { path, line } = fileLink(href);
  const uri = await inWorkspace(path);
  if (uri) await openLocation(uri, line);
  else void vscode.window.showInformationMessage(`${href} is not a file of this workspace.`);
}

/** Show a line of a document. */
export async function openLocation(uri: vscode.Uri, line: number): Promise<void> {
  const position = new vscode.Position(Math.max(line, 0), 0);
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(position, position), preview: true });
}

async function openOutside(href: string): Promise<void> {
  const uri = vscode.Uri.parse(href, true);
  const detail = `${href}\n\nThe model wrote this link.`;
  const answer = await vscode.window.showInformationMessage("Open this link?", { modal: true, detail }, "Open", "Copy");
  if (answer === "Open") await vscode.env.openExternal(uri);
  else if (answer === "Copy") await vscode.env.clipboard.writeText(href);
}

async function inWorkspace(path: string): Promise<vscode.Uri | undefined> {
  for (const { uri: root } of vscode.workspace.workspaceFolders ?? []) {
    const folder = sameDrive(root.path).replace(/\/$/, "");
    const wanted = posix.normalize(path.startsWith("/") ? path : `${folder}/${path}`);
    if (path === "" || !wanted.startsWith(`${folder}/`)) continue;
    const uri = root.with({ path: wanted });
    const found = await vscode.workspace.fs.stat(uri).then(
      (stat) => stat,
      () => undefined,
    );
    if (found && found.type !== vscode.FileType.Directory) return uri;
  }
  return undefined;
}
