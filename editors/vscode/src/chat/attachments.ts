/** What of the editor goes along with the next question. */
import * as vscode from "vscode";
import { range as wireRange } from "../diagnostics";
import type { ChatContext, ImageContent, Range } from "../protocol";
import { SCHEMES } from "../server";
import { workspaceFiles } from "./files";
import type { Place } from "./messages";
import { moved } from "./movedRange";

interface Source {
  readonly uri: vscode.Uri;
  readonly range: Range;
}

interface Pinned extends Source {
  /** Whether the range is one of the open document, and perhaps not of the file. */
  readonly isUnsaved: boolean;
}

export class Attachments implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly listening: vscode.Disposable[];
  private readonly attached = new Map<string, vscode.Uri>();
  private pinned: Pinned | undefined;
  private isActiveSent = true;

  readonly onDidChange = this.changed.event;

  constructor() {
    const tell = (): void => {
      this.changed.fire();
    };
    this.listening = [
      vscode.window.onDidChangeActiveTextEditor(tell),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) tell();
      }),
      vscode.workspace.onDidChangeTextDocument((event) => {
        this.follow(event);
      }),
      vscode.workspace.onDidSaveTextDocument((document) => {
        const pinned = this.pinnedIn(document);
        if (pinned) this.pinned = { ...pinned, isUnsaved: false };
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        // The server reads the file then. A document that only gets another language is told as closed, too.
        if (document.isClosed && this.pinnedIn(document)?.isUnsaved) this.detachSelection();
      }),
    ];
  }

  dispose(): void {
    for (const one of this.listening) one.dispose();
    this.changed.dispose();
  }

  /** How the view shows it. */
  get shown(): {
    place: Place | null;
    isPinned: boolean;
    isPlaceSent: boolean;
    files: { uri: string; name: string }[];
  } {
    const source = this.pinned ?? active();
    const files = [...this.attached].map(([uri, file]) => ({ uri, name: name(file) }));
    const place = source && { name: name(source.uri), uri: source.uri.toString(), lines: lines(source.range) };
    return {
      place: place ?? null,
      isPinned: this.pinned !== undefined,
      isPlaceSent: this.pinned !== undefined || this.isActiveSent,
      files,
    };
  }

  /** The names of all that is sent. */
  get names(): readonly string[] {
    const { place, isPlaceSent, files } = this.shown;
    const here = place && isPlaceSent ? [named(place)] : [];
    return [...here, ...files.map((file) => file.name)];
  }

  /** How the server gets it. */
  context(images: readonly ImageContent[]): ChatContext {
    const source = this.pinned ?? (this.isActiveSent ? active() : undefined);
    const exclude = this.excluded;
    return {
      ...(source && { uri: source.uri.toString(), range: source.range }),
      ...(this.attached.size > 0 && { files: [...this.attached.keys()] }),
      ...(images.length > 0 && { images: [...images] }),
      ...(exclude.length > 0 && { exclude }),
    };
  }

  attachFiles(uris: readonly vscode.Uri[]): void {
    for (const uri of uris) this.attached.set(uri.toString(), uri);
    this.changed.fire();
  }

  /** Keep what is selected now, wherever the cursor goes. */
  attachSelection(editor: vscode.TextEditor): void {
    const { document, selection } = editor;
    this.pinned = { uri: document.uri, range: wireRange(selection), isUnsaved: document.isDirty };
    this.changed.fire();
  }

  detach(uri: string): void {
    this.attached.delete(uri);
    this.changed.fire();
  }

  detachSelection(): void {
    this.pinned = undefined;
    this.changed.fire();
  }

  sendPlace(isSent: boolean): void {
    this.isActiveSent = isSent;
    this.changed.fire();
  }

  /** What was attached goes with one question. */
  clear(): void {
    this.attached.clear();
    this.pinned = undefined;
    this.changed.fire();
  }

  /** Let the user choose files of the workspace. */
  async pick(): Promise<void> {
    const open = vscode.workspace.textDocuments.map((document) => document.uri).filter((uri) => uri.scheme === "file");
    const all = new Map([...open, ...(await workspaceFiles())].map((uri) => [uri.toString(), uri]));
    const items = [...all.values()].map((uri) => ({
      label: name(uri),
      description: vscode.workspace.asRelativePath(uri),
      uri,
    }));
    const options = {
      canPickMany: true,
      matchOnDescription: true,
      placeHolder: "Files to send along with the next question",
    } as const;
    const picked = await vscode.window.showQuickPick(items, options);
    if (picked) this.attachFiles(picked.map(({ uri }) => uri));
  }

  /** What was attached is the code, and not whatever comes to stand in its lines. */
  private follow({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const pinned = this.pinnedIn(document);
    if (!pinned || contentChanges.length === 0) return;
    const edits = contentChanges.map(({ range, text }) => ({ range: wireRange(range), text }));
    const range = moved(pinned.range, edits);
    this.pinned = range && { ...pinned, range, isUnsaved: document.isDirty };
    this.changed.fire();
  }

  private pinnedIn({ uri }: vscode.TextDocument): Pinned | undefined {
    return this.pinned?.uri.toString() === uri.toString() ? this.pinned : undefined;
  }

  /** The active document where it is not to be sent: as an open buffer it would go along all the same. */
  private get excluded(): readonly string[] {
    const here = this.isActiveSent ? undefined : active()?.uri.toString();
    if (here === undefined || here === this.pinned?.uri.toString() || this.attached.has(here)) return [];
    return [here];
  }
}

function active(): Source | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !SCHEMES.includes(editor.document.uri.scheme)) return undefined;
  return { uri: editor.document.uri, range: wireRange(editor.selection) };
}

/** What the user calls a place; nothing where there is none. */
export function placeNames({ uri, range }: ChatContext): readonly string[] {
  return uri === undefined ? [] : [named({ name: name(vscode.Uri.parse(uri)), lines: lines(range) })];
}

function named({ name, lines }: Pick<Place, "name" | "lines">): string {
  return lines ? `${name}:${lines}` : name;
}

function name(uri: vscode.Uri): string {
  return uri.path.split("/").at(-1) ?? uri.path;
}

function lines(range: Range | undefined): string {
  if (!range) return "";
  const { start, end } = range;
  if (start.line !== end.line) return `${start.line + 1}–${end.line + 1}`;
  return start.character === end.character ? "" : String(start.line + 1);
}
