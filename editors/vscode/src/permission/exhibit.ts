/** What the user sees while they are asked: diffs of files, or a document; closed when the question is over. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { FileChange, PermissionParams } from "../protocol";
import { SCHEME, type ProposedDocuments } from "./documents";

interface Side {
  change: FileChange;
  left: vscode.Uri;
  right: vscode.Uri;
}

export class Exhibit implements vscode.Disposable {
  private readonly closeEmitter = new vscode.EventEmitter<void>();
  private listener: vscode.Disposable | undefined;
  private hasOpened = false;
  /** The user has closed all of it. */
  readonly onDidClose = this.closeEmitter.event;

  constructor(
    private readonly documents: ProposedDocuments,
    private readonly params: PermissionParams,
  ) {}

  async show({ preserveFocus }: { preserveFocus: boolean }): Promise<void> {
    this.listener ??= vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      if (closed.some((tab) => this.isMine(tab)) && this.tabs().length === 0) this.closeEmitter.fire();
    });
    const sides = await this.sides();
    const [only] = sides;
    if (!only) await this.showText(preserveFocus);
    else if (sides.length > 1)
      await vscode.commands.executeCommand(
        "vscode.changes",
        this.label,
        sides.map(({ change, left, right }) => [vscode.Uri.parse(change.newUri ?? change.uri), left, right]),
      );
    else {
      const name = path.posix.basename(vscode.Uri.parse(only.change.newUri ?? only.change.uri).path);
      await vscode.commands.executeCommand("vscode.diff", only.left, only.right, `${name} (ollm proposes)`, {
        preview: false,
        preserveFocus,
      });
    }
    this.hasOpened = true;
  }

  get isShown(): boolean {
    return this.hasOpened || this.tabs().length > 0;
  }

  async close(): Promise<void> {
    this.listener?.dispose();
    this.listener = undefined;
    await vscode.window.tabGroups.close(this.tabs());
    this.documents.forget(this.params.id);
  }

  dispose(): void {
    this.listener?.dispose();
    this.closeEmitter.dispose();
  }

  private tabs(): vscode.Tab[] {
    return vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => this.isMine(tab));
  }

  private isMine({ input, label }: vscode.Tab): boolean {
    if (input instanceof vscode.TabInputTextDiff) return this.isOurs(input.modified) || this.isOurs(input.original);
    if (input instanceof vscode.TabInputText) return this.isOurs(input.uri);
    // The diff of several files has no public type of input; older editors have none at all, and add to the title.
    return input === undefined
      ? label.startsWith(this.label)
      : diffsOf(input).some(({ modified }) => this.isOurs(modified));
  }

  /** The title of a diff of several files. */
  private get label(): string {
    return `ollm: ${this.params.title}`;
  }

  private isOurs(uri: vscode.Uri): boolean {
    return uri.scheme === SCHEME && uri.authority.startsWith(`${this.params.id}.`);
  }

  private async showText(preserveFocus: boolean): Promise<void> {
    const text = this.documents.add(
      this.params.id,
      "text",
      `/${this.params.title.replaceAll(/[/\\:]/g, " ")}.md`,
      `# ${this.params.title}\n\n${this.params.detail}\n`,
    );
    await vscode.window.showTextDocument(text, { preview: false, preserveFocus });
  }

  private sides(): Promise<Side[]> {
    const changes = this.params.changes ?? [];
    return Promise.all(
      changes.map(async (change) => {
        const file = vscode.Uri.parse(change.uri);
        const { id } = this.params;
        const before = await textOf(file);
        // What the server has seen as it is in the editor, saved or not; a new file has nothing before it. In a diff of
        // several files it is a copy: with the files themselves the editor would ask whether to save when it is closed.
        const isCopy = before === undefined || changes.length > 1;
        const left = isCopy ? this.documents.add(id, "old", file.path, before ?? "") : file;
        const after = change.newUri === undefined ? (change.newText ?? "") : (before ?? "");
        const right = this.documents.add(id, "new", vscode.Uri.parse(change.newUri ?? change.uri).path, after);
        return { change, left, right };
      }),
    );
  }
}

function diffsOf(input: unknown): readonly vscode.TabInputTextDiff[] {
  return (input as { textDiffs?: readonly vscode.TabInputTextDiff[] }).textDiffs ?? [];
}

async function textOf(file: vscode.Uri): Promise<string | undefined> {
  try {
    return (await vscode.workspace.openTextDocument(file)).getText();
  } catch {
    return undefined;
  }
}
