import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PermissionParams } from "../../src/protocol";
import { Permissions } from "../../src/permission";
import { vscode } from "./chat/vscodeStub";
import { until } from "./until";

/** As much of the `vscode` module as a question about a command needs. A test opens its tab, and fills in its fields. */
const host = vi.hoisted(() => {
  class TabInputText {
    constructor(readonly uri: { scheme: string; authority: string }) {}
  }
  return {
    TabInputText,
    commands: new Map<string, () => unknown>(),
    tabs: [] as { input: TabInputText; label: string }[],
    /** What was asked for to be shown, and has not been yet. */
    opening: [] as (() => void)[],
    /** The token of the field that is open. */
    field: undefined as { isCancellationRequested: boolean } | undefined,
  };
});

vi.mock("vscode", async () => {
  const { vscode } = await import("./chat/vscodeStub");
  const nothing = { dispose: () => undefined };
  return {
    EventEmitter: vscode.EventEmitter,
    CancellationTokenSource: vscode.CancellationTokenSource,
    Disposable: { from: () => nothing },
    ThemeColor: Object,
    StatusBarAlignment: { Left: 1 },
    ProgressLocation: { Notification: 15 },
    TabInputText: host.TabInputText,
    TabInputTextDiff: Map,
    Uri: { from: (parts: object) => ({ ...parts, toString: () => JSON.stringify(parts) }), parse: JSON.parse },
    commands: {
      registerCommand: (name: string, run: () => unknown) => {
        host.commands.set(name, run);
        return nothing;
      },
      executeCommand: () => Promise.resolve(),
    },
    window: {
      tabGroups: {
        get all() {
          return [{ tabs: host.tabs }];
        },
        onDidChangeTabs: () => nothing,
        close: () => Promise.resolve((host.tabs.length = 0)),
      },
      createStatusBarItem: () => ({ show: () => undefined, hide: () => undefined, dispose: () => undefined }),
      withProgress: () => Promise.resolve(),
      showTextDocument: (uri: { scheme: string; authority: string }) =>
        new Promise<void>((resolve) => {
          host.opening.push(() => {
            host.tabs.push({ input: new host.TabInputText(uri), label: "" });
            resolve();
          });
        }),
      showInputBox: (
        _: object,
        token: { isCancellationRequested: boolean; onCancellationRequested: (f: () => void) => void },
      ) =>
        new Promise((resolve) => {
          host.field = token;
          token.onCancellationRequested(() => {
            resolve(undefined);
          });
        }),
    },
    workspace: { registerTextDocumentContentProvider: () => nothing },
  };
});

vi.setConfig({ testTimeout: 60_000 });

let permissions: Permissions;

beforeEach(() => {
  host.tabs.length = host.opening.length = 0;
  host.field = undefined;
  permissions = new Permissions();
});

afterEach(() => {
  permissions.dispose();
});

function question(id: string): PermissionParams {
  return {
    id,
    title: `Run ${id}`,
    kind: "execute",
    detail: "",
    options: [
      { id: "allow_once", label: "Allow" },
      { id: "reject_once", label: "Reject" },
    ],
  };
}

function ask(id: string, source = new vscode.CancellationTokenSource()): Promise<{ optionId: string }> {
  return permissions.ask(question(id), source.token);
}

/** Let what was asked for be shown, once it is. */
async function open(): Promise<void> {
  (await until(() => host.opening.shift()))();
  await until(() => host.tabs.length > 0);
}

function press(name: string): unknown {
  return host.commands.get(`ollm.permission.${name}`)?.();
}

test("a second yes does not reach the next question before it is shown", async () => {
  const [first, second] = [ask("one"), ask("two")];
  await open();
  press("allow");
  expect((await first).optionId).toBe("allow_once");
  await until(() => host.opening.length > 0);
  press("allow");
  await open();
  press("reject");
  expect((await second).optionId).toBe("reject_once");
});

test("a no is taken at once", async () => {
  const answer = ask("one");
  await until(() => host.opening.length > 0);
  press("reject");
  await open();
  expect((await answer).optionId).toBe("reject_once");
});

test("a field goes with its question", async () => {
  const source = new vscode.CancellationTokenSource();
  const answer = ask("one", source);
  await open();
  press("feedback");
  await until(() => host.field);
  source.cancel();
  expect((await answer).optionId).toBe("reject_once");
  expect(host.field?.isCancellationRequested).toBe(true);
});

test("a server that ends takes its questions along, and not the extension's own", async () => {
  const asked = ask("one");
  const own = permissions.ask(question("own"));
  await open();
  permissions.withdraw();
  expect((await asked).optionId).toBe("reject_once");
  await open();
  permissions.withdraw();
  press("allow");
  expect((await own).optionId).toBe("allow_once");
});
