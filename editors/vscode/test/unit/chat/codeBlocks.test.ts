import { beforeEach, expect, test, vi } from "vitest";
import { useCode } from "../../../src/chat/codeBlocks";

/** As much of the `vscode` module as it takes to write code into a document. */
const editor = vi.hoisted(() => {
  const uri = (
    path: string,
    scheme = "file",
  ): { path: string; scheme: string; with: unknown; toString: () => string } => ({
    path,
    scheme,
    with: (changed: { scheme: string }) => uri(path, changed.scheme),
    toString: () => `${scheme}://${path}`,
  });
  const opened = (at: ReturnType<typeof uri>): object => ({
    document: { uri: at, getText: () => "", positionAt: Number, offsetAt: Number },
    selection: { start: 0, end: 0 },
    revealRange: () => undefined,
    setDecorations: () => undefined,
  });
  return {
    uri,
    opened,
    /** What the workspace has, what the user chooses, and where code went to. */
    files: [] as ReturnType<typeof uri>[],
    hidden: "",
    answer: undefined as string | undefined,
    asked: [] as string[],
    written: [] as string[],
  };
});

const vscode = vi.hoisted(() => ({
  Range: Object,
  ThemeColor: Object,
  ViewColumn: { Active: -1 },
  TextEditorRevealType: { InCenterIfOutsideViewport: 2 },
  Uri: { joinPath: (base: { path: string }, file: string) => editor.uri(`${base.path}/${file}`) },
  WorkspaceEdit: class {
    replace(at: ReturnType<typeof editor.uri>): void {
      editor.written.push(at.toString());
    }
  },
  window: {
    activeTextEditor: {},
    createTextEditorDecorationType: () => ({ dispose: () => undefined }),
    setStatusBarMessage: () => undefined,
    showTextDocument: (what: ReturnType<typeof editor.uri> | { uri: ReturnType<typeof editor.uri> }) =>
      Promise.resolve(editor.opened("uri" in what ? what.uri : what)),
    showInformationMessage: (message: string, ...answers: string[]) => {
      editor.asked.push(message, ...answers);
      return Promise.resolve(answers.find((answer) => answer === editor.answer));
    },
    showQuickPick: (rows: { label: string }[]) => {
      editor.asked.push(...rows.map(({ label }) => label));
      return Promise.resolve(rows.find(({ label }) => label === editor.answer));
    },
  },
  workspace: {
    workspaceFolders: [{ uri: { path: "/project" } }],
    getConfiguration: () => ({ get: (_: string, otherwise: unknown) => otherwise }),
    getWorkspaceFolder: ({ path }: { path: string }) => (path.includes("..") ? undefined : {}),
    asRelativePath: ({ path }: { path: string }) => path.replace("/project/", ""),
    findFiles: () => Promise.resolve(editor.files),
    applyEdit: () => Promise.resolve(true),
    fs: {
      stat: ({ path }: { path: string }) =>
        path === editor.hidden ? Promise.resolve({}) : Promise.reject(new Error("not there")),
    },
  },
  commands: { executeCommand: () => Promise.resolve([]) },
}));

vi.mock("vscode", () => vscode);

beforeEach(() => {
  Object.assign(editor, { files: [], hidden: "", answer: undefined, asked: [], written: [] });
  vscode.window.activeTextEditor = editor.opened(editor.uri("/project/open.py"));
});

function apply(info: string): Promise<string | undefined> {
  return useCode("apply", "x = 1", info, () => Promise.reject(new Error("nobody is asked")));
}

test("code that names no file goes to the active document", async () => {
  await apply("python");
  expect(editor.written).toEqual(["file:///project/open.py"]);
});

test("code that names a file goes to it", async () => {
  editor.files = [editor.uri("/project/src/a.py")];
  await apply("python src/a.py");
  expect(editor.written).toEqual(["file:///project/src/a.py"]);
  expect(editor.asked).toEqual([]);
});

test.each([
  ["Create new.py", ["untitled:///project/new.py"]],
  ["Use open.py", ["file:///project/open.py"]],
  [undefined, []],
])("where the named file is not there, the user says what to do: %s", async (answer, written) => {
  editor.answer = answer;
  await apply("python new.py");
  expect(editor.asked.slice(1)).toEqual(["Create new.py", "Use open.py"]);
  expect(editor.written).toEqual(written);
});

test("a file that searches leave out is there all the same", async () => {
  editor.hidden = "/project/node_modules/a.js";
  await apply("js ./node_modules/a.js");
  expect(editor.written).toEqual(["file:///project/node_modules/a.js"]);
  expect(editor.asked).toEqual([]);
});

test("nothing is begun outside of the workspace", async () => {
  await apply("python ../new.py");
  expect(editor.asked.slice(1)).toEqual(["Use open.py"]);
});

test.each([
  ["b/index.ts", ["file:///project/b/index.ts"]],
  [undefined, []],
])("of several files of that name the user chooses one: %s", async (answer, written) => {
  editor.files = [editor.uri("/project/a/index.ts"), editor.uri("/project/b/index.ts")];
  editor.answer = answer;
  await apply("ts index.ts");
  expect(editor.asked).toEqual(["a/index.ts", "b/index.ts"]);
  expect(editor.written).toEqual(written);
});
