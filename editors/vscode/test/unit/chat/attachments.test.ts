import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type * as api from "vscode";
import { Attachments } from "../../../src/chat/attachments";
import { workspaceFiles } from "../../../src/chat/files";
import { stub, vscode } from "./vscodeStub";

vi.mock("vscode", async () => (await import("./vscodeStub")).vscode);

const HERE = "file:///project/greeting.py";
const OTHER = "file:///project/other.py";
const RANGE = { start: { line: 3, character: 0 }, end: { line: 8, character: 4 } };

function address(text: string): api.Uri {
  const [scheme = "", path = ""] = text.split("://");
  return { scheme, path, toString: () => text } as api.Uri;
}

function document(uri: string, isDirty: boolean, isClosed = false): api.TextDocument {
  return { uri: address(uri), isDirty, isClosed } as api.TextDocument;
}

function editor(uri: string, isDirty = false): api.TextEditor {
  return {
    document: document(uri, isDirty),
    selection: { ...RANGE, isEmpty: false },
  } as unknown as api.TextEditor;
}

/** Replace whole lines of a document by others. */
function replace(uri: string, first: number, last: number, text: string, isDirty = true): void {
  const range = { start: { line: first, character: 0 }, end: { line: last, character: 0 } };
  stub.changes.fire({ document: document(uri, isDirty), contentChanges: [{ range, text }] });
}

let attachments: Attachments;

beforeEach(() => {
  vscode.window.activeTextEditor = editor(HERE);
  attachments = new Attachments();
});

afterEach(() => {
  attachments.dispose();
});

test("the place goes along, and when it shall not, its document goes along in no other way", () => {
  expect(attachments.context([])).toEqual({ uri: HERE, range: RANGE });
  attachments.sendPlace(false);
  expect(attachments.context([])).toEqual({ exclude: [HERE] });
  expect(attachments.names).toEqual([]);
});

test("a document that was attached is sent, though it is the active one that shall not go along", () => {
  attachments.sendPlace(false);
  attachments.attachFiles([address(HERE)]);
  expect(attachments.context([])).toEqual({ files: [HERE] });
  attachments.clear();
  attachments.attachSelection(editor(HERE));
  expect(attachments.context([])).toEqual({ uri: HERE, range: RANGE });
});

test("a file and a selection of the same document are detached one by one", () => {
  attachments.attachFiles([address(HERE), address(OTHER)]);
  attachments.attachSelection(editor(HERE));
  attachments.detachSelection();
  expect(attachments.shown).toMatchObject({ isPinned: false, files: [{ uri: HERE }, { uri: OTHER }] });
  attachments.attachSelection(editor(HERE));
  attachments.detach(HERE);
  expect(attachments.shown).toMatchObject({ isPinned: true, files: [{ uri: OTHER }] });
});

test("a selection that was attached stays the same code when lines are inserted above it", () => {
  const told = vi.fn();
  attachments.attachSelection(editor(HERE));
  attachments.onDidChange(told);
  replace(OTHER, 0, 0, "import os\n");
  expect(told).not.toHaveBeenCalled();
  replace(HERE, 0, 0, "import os\n".repeat(10));
  expect(told).toHaveBeenCalledOnce();
  expect(attachments.names).toEqual(["greeting.py:14–19"]);
  expect(attachments.shown.place?.lines).toBe("14–19");
  const range = { start: { line: 13, character: 0 }, end: { line: 18, character: 4 } };
  expect(attachments.context([])).toEqual({ uri: HERE, range });
});

test("a selection of which nothing is left is not attached any more", () => {
  attachments.attachSelection(editor(OTHER));
  replace(OTHER, 2, 9, "");
  expect(attachments.shown).toMatchObject({ isPinned: false, place: { uri: HERE } });
});

test("a selection outlives its document only where the file holds the same", () => {
  const close = (isClosed = true): void => {
    stub.closes.fire(document(OTHER, false, isClosed));
  };
  attachments.attachSelection(editor(OTHER));
  close();
  expect(attachments.shown.isPinned).toBe(true);
  replace(OTHER, 0, 0, "import os\n");
  stub.saves.fire(document(OTHER, false));
  close();
  expect(attachments.names).toEqual(["other.py:5–10"]);
  replace(OTHER, 0, 0, "import os\n");
  close(false);
  stub.closes.fire(document(HERE, false, true));
  expect(attachments.shown.isPinned).toBe(true);
  close();
  expect(attachments.shown.isPinned).toBe(false);
  attachments.attachSelection(editor(OTHER, true));
  close();
  expect(attachments.shown.isPinned).toBe(false);
});

test("a cell of a notebook is not sent, because the server does not know it", () => {
  vscode.window.activeTextEditor = editor("vscode-notebook-cell:///project/a.ipynb");
  expect(attachments.shown.place).toBeNull();
  expect(attachments.context([])).toEqual({});
});

test("files are found once while one types, and without those that the user does not search", async () => {
  vscode.workspace.settings = { "search.exclude": { "**/*.{log,tmp}": true, "**/kept": false } };
  vscode.workspace.findFiles.mockResolvedValue([address(HERE)]);
  expect([await workspaceFiles(), await workspaceFiles()]).toMatchObject([[{ scheme: "file" }], [{ scheme: "file" }]]);
  expect(vscode.workspace.findFiles).toHaveBeenCalledTimes(1);
  const exclude = vscode.workspace.findFiles.mock.calls[0]?.[1].slice(1, -1).split(",");
  expect(exclude).toEqual(expect.arrayContaining(["**/node_modules/**", "**/.venv/**", "**/*.log", "**/*.tmp"]));
  expect(exclude).not.toContain("**/kept");
});
