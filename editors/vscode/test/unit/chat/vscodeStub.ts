/** As much of the `vscode` module as the chat's host needs, with a view and windows that the test reads. */
import { vi } from "vitest";
import type { FromView, ToView } from "../../../src/chat/messages";

class Emitter<T> {
  private readonly listeners = new Set<(value: T) => void>();
  readonly event = (listener: (value: T) => void): { dispose: () => void } => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of this.listeners) listener(value);
  }
  dispose(): void {
    this.listeners.clear();
  }
}

class CancellationTokenSource {
  private readonly cancelled = new Emitter<void>();
  token = { isCancellationRequested: false, onCancellationRequested: this.cancelled.event };
  cancel(): void {
    this.token.isCancellationRequested = true;
    this.cancelled.fire();
  }
  dispose(): void {
    this.cancelled.dispose();
  }
}

/** The webview, from its inside. */
export class StubView {
  readonly told: ToView[] = [];
  private readonly messages = new Emitter<FromView>();
  private readonly disposal = new Emitter<void>();
  readonly webview = {
    options: {},
    html: "",
    cspSource: "SELF",
    asWebviewUri: (uri: unknown) => uri,
    onDidReceiveMessage: this.messages.event,
    postMessage: (message: ToView): Promise<boolean> => {
      this.told.push(structuredClone(message));
      return Promise.resolve(true);
    },
  };
  onDidDispose = this.disposal.event;

  say(message: FromView): void {
    this.messages.fire(message);
  }

  close(): void {
    this.disposal.fire();
  }
}

export const stub = {
  provider: undefined as { resolveWebviewView(view: StubView): void } | undefined,
  answer: undefined as string | undefined,
  asked: [] as string[],
  opened: [] as string[],
  executed: [] as string[],
  arguments: [] as unknown[],
  /** What happens to documents. */
  changes: new Emitter<unknown>(),
  saves: new Emitter<unknown>(),
  closes: new Emitter<unknown>(),
};

const nothing = { dispose: () => undefined };

export const vscode = {
  EventEmitter: Emitter,
  CancellationTokenSource,
  Disposable: { from: () => nothing },
  Uri: {
    joinPath: (base: { path: string }, ...more: string[]) => ({
      path: [base.path, ...more].join("/"),
      toString: () => more.join("/"),
    }),
    parse: (text: string) => ({ text, path: new URL(text).pathname, toString: () => text }),
  },
  window: {
    activeTextEditor: undefined as unknown,
    onDidChangeActiveTextEditor: () => nothing,
    onDidChangeTextEditorSelection: () => nothing,
    registerWebviewViewProvider: (_: string, provider: NonNullable<typeof stub.provider>) => {
      stub.provider = provider;
      return nothing;
    },
    showInformationMessage: vi.fn((question: string, options?: { detail?: string }) => {
      stub.asked.push(`${question} ${options?.detail ?? ""}`);
      return Promise.resolve(stub.answer);
    }),
    showWarningMessage: vi.fn((question: string) => {
      stub.asked.push(question);
      return Promise.resolve(stub.answer);
    }),
    showErrorMessage: vi.fn((message: string) => {
      stub.asked.push(message);
      return Promise.resolve(undefined);
    }),
  },
  workspace: {
    workspaceFolders: [],
    onDidChangeConfiguration: () => nothing,
    onDidChangeTextDocument: stub.changes.event,
    onDidSaveTextDocument: stub.saves.event,
    onDidCloseTextDocument: stub.closes.event,
    settings: {} as Record<string, unknown>,
    getConfiguration: (section: string) => ({
      get: (key: string, otherwise: unknown) => vscode.workspace.settings[`${section}.${key}`] ?? otherwise,
    }),
    findFiles: vi.fn((_include: string, _exclude: string, _most: number) => Promise.resolve([] as unknown[])),
  },
  commands: {
    executeCommand: (name: string, ...given: readonly unknown[]) => {
      stub.executed.push(name);
      stub.arguments.push(...given);
      return Promise.resolve();
    },
  },
  env: {
    openExternal: (uri: { text: string }) => {
      stub.opened.push(uri.text);
      return Promise.resolve(true);
    },
    clipboard: { writeText: () => Promise.resolve() },
  },
};
