/** What actions are about, and what is left of a conversation that nobody keeps. */
import { beforeEach, expect, test, vi } from "vitest";
import type { Chat } from "../../src/chat";
import type { Pages } from "../../src/pages";
import type { ChatEvent } from "../../src/protocol";
import { ServerError, type RequestOptions, type Server } from "../../src/server";

interface Editor {
  commands: Map<string, (argument?: unknown) => Promise<unknown>>;
  messages: string[];
  active: unknown;
}
const editor = vi.hoisted((): Editor => ({ commands: new Map(), messages: [], active: undefined }));
vi.mock("vscode", () => {
  class Uri {
    constructor(readonly path: string) {}
    static parse = (text: string): Uri => new Uri(text);
  }
  class Emitter {
    event = (): void => undefined;
  }
  return {
    Uri,
    EventEmitter: Emitter,
    LanguageModelTextPart: class {
      constructor(readonly value: string) {}
    },
    Disposable: { from: () => undefined },
    commands: {
      registerCommand: (name: string, run: () => Promise<unknown>) => editor.commands.set(name, run),
    },
    window: {
      get activeTextEditor() {
        return editor.active;
      },
      showErrorMessage: (message: string) => editor.messages.push(message),
    },
  };
});
const { Uri, LanguageModelTextPart } = await import("vscode");
const { registerCommands } = await import("../../src/commands");
const { Provider } = await import("../../src/native/provider");

const RANGE = { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } };
const executed: [string, unknown][] = [];

function open(scheme: string): void {
  const uri = { scheme, path: "/a.py", toString: () => `${scheme}:/a.py` };
  editor.active = { document: { uri }, selection: RANGE };
}

async function run(name: string, argument?: unknown): Promise<unknown> {
  return editor.commands.get(name)?.(argument);
}

beforeEach(() => {
  executed.length = 0;
  editor.messages.length = 0;
  editor.active = undefined;
  const execute = (command: string, argument: unknown): Promise<unknown> => {
    executed.push([command, argument]);
    return Promise.resolve({});
  };
  const chat = { stream: (_asked: string, ask: (options: RequestOptions) => unknown) => ask({}) } as unknown as Chat;
  registerCommands({ execute } as unknown as Server, chat, {} as Pages);
});

test("an action is about the place where the user is, also when a menu brings the document", async () => {
  open("file");
  await run("ollm.fix");
  await run("ollm.fix", Uri.parse("/a.py"));
  await run("ollm.edit", { text: "Be polite." });
  const here = { uri: "file:/a.py", range: RANGE };
  expect(executed).toEqual([
    ["ollm.fix", here],
    ["ollm.fix", here],
    ["ollm.edit", { ...here, text: "Be polite." }],
  ]);
});

test("an action refuses where the server would take another document for the active one", async () => {
  for (const scheme of ["vscode-userdata", "git", "output", "vscode-notebook-cell"]) {
    open(scheme);
    for (const command of ["ollm.explain", "ollm.edit", "ollm.action"]) expect(await run(command)).toBeUndefined();
  }
  editor.active = undefined;
  await run("ollm.fix");
  expect(executed).toEqual([]);
  expect(editor.messages[0]).toBe("ollm cannot see this kind of document. Go to a file or an untitled document.");
  expect(editor.messages.at(-1)).toContain("cannot see what is open here");
  expect(editor.messages).toHaveLength(13);
});

test("who names a document gets what they ask for, wherever they are", async () => {
  open("output");
  await run("ollm.fix", { uri: "file:/b.py" });
  expect(executed).toEqual([["ollm.fix", { uri: "file:/b.py" }]]);
});

test("a conversation of another extension is deleted, however it ends", async () => {
  const started = { type: "started", conversationId: "c" } as ChatEvent;
  for (const [failure, isThrown] of [
    [undefined, false],
    [new ServerError("Stopped.", "cancelled"), false],
    [new ServerError("Nobody answers.", "connection"), true],
  ] as const) {
    const asked: [string, unknown][] = [];
    const request = (method: string, params: unknown, options?: RequestOptions): Promise<unknown> => {
      asked.push([method, params]);
      options?.onEvent?.(started);
      return failure ? Promise.reject(failure) : Promise.resolve({});
    };
    const provider = new Provider({ request, onDidStart: () => undefined } as unknown as Server);
    const [model, token] = [{ id: "a:b" } as never, {} as never];
    const messages = [{ content: [new LanguageModelTextPart("Hello")] }] as never;
    const answer = provider.provideLanguageModelChatResponse(model, messages, {} as never, {} as never, token);
    if (isThrown) await expect(answer).rejects.toBe(failure);
    else await answer;
    expect(asked).toEqual([
      ["ollm/chat/send", { text: "Hello", model: "a:b", tools: false, context: { openBuffers: false } }],
      ["ollm/chat/delete", { conversationId: "c" }],
    ]);
  }
});
