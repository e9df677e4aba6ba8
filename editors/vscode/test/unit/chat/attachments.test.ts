import { beforeEach, expect, test, vi } from "vitest";
import type * as api from "vscode";
import { Attachments } from "../../../src/chat/attachments";
import { workspaceFiles } from "../../../src/chat/files";
import { vscode } from "./vscodeStub";

vi.mock("vscode", async () => (await import("./vscodeStub")).vscode);

const HERE = "file:///project/greeting.py";
const OTHER = "file:///project/other.py";
const RANGE = { start: { line: 3, character: 0 }, end: { line: 8, character: 4 } };

function address(text: string): api.Uri {
  const [scheme = "", path = ""] = text.split("://");
  return { scheme, path, toString: () => text } as api.Uri;
}

function editor(uri: string): api.TextEditor {
  return { document: { uri: address(uri) }, selection: { ...RANGE, isEmpty: false } } as unknown as api.TextEditor;
}

let attachments: Attachments;

beforeEach(() => {
  vscode.window.activeTextEditor = editor(HERE);
  attachments = new Attachments();
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
