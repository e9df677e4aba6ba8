/** The language server as a process: found, started, started again, and asked. */
import { access, constants } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";
import * as readline from "node:readline";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  ProgressType,
  type ConfigurationParams,
  type DynamicFeature,
  type LanguageClientOptions,
  type StaticFeature,
  type WorkDoneProgressBegin,
  type WorkDoneProgressEnd,
  type WorkDoneProgressReport,
} from "vscode-languageclient/node";
import type { Ask } from "../permission";
import type {
  ChatEvent,
  Commands,
  DiagnosticsParams,
  DiagnosticsResult,
  PermissionParams,
  Requests,
  Status,
} from "../protocol";
import { SCHEMES, ServerError, type RequestOptions, type Server, type ServerState } from "../server";
import { shown } from "../shown";
import { Environments } from "./environments";
import { serverError, startError } from "./errors";
import { installServer } from "./install";
import { locate, WrongSetting, type Found } from "./locate";
import { Lifecycle, Missing } from "./lifecycle";
import { serverKeys, setOptions } from "./options";
import { activePython } from "./python";
import { Restarts } from "./restarts";
import { traceChannel } from "./trace";

/** How the extension answers what the server asks. */
export interface Answers {
  permission: Ask;
  diagnostics(params: DiagnosticsParams): DiagnosticsResult;
}

const MOST_RESTARTS = 4;
const RESTARTS_WITHIN_MS = 3 * 60_000;
/** How long a server may take to end by itself. */
const STOPPING_MS = 5_000;
const VERSION = 1;
const COMMAND = "workspace/executeCommand";
const chatEvents = new ProgressType<ChatEvent>();
const workDone = new ProgressType<WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd>();

/** Leaves the commands to the extension, and also to tell the user of failures. */
class Client extends LanguageClient {
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    // The extension registers the server's commands itself: they are there before the server is, and ask what they need.
    const isCommands = "registrationType" in feature && feature.registrationType.method === COMMAND;
    if (!isCommands) super.registerFeature(feature);
  }

  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override dispose(timeout = STOPPING_MS): Promise<void> {
    return super.dispose(timeout);
  }
}

export class ServerProcess implements Server, vscode.Disposable {
  private readonly stateEmitter = new vscode.EventEmitter<ServerState>();
  private readonly startEmitter = new vscode.EventEmitter<void>();
  private readonly statusEmitter = new vscode.EventEmitter<Status>();
  private readonly lifecycle = new Lifecycle<Client>(
    {
      make: async () => this.newClient(await this.find()),
      changed: (state) => {
        if (state !== "running") this.status = undefined;
        this.stateEmitter.fire(state);
        if (state !== "running") return;
        this.startEmitter.fire();
        this.environments.tidy().catch((error: unknown) => {
          this.log.debug(String(error));
        });
      },
      ended: (isStartedAgain) => {
        this.tellOfEnd(isStartedAgain);
      },
      notStarted: (error) => {
        this.tellOfFailure("ollm-lsp could not be started.");
        return startError(error);
      },
    },
    new Restarts(MOST_RESTARTS, RESTARTS_WITHIN_MS),
  );
  private readonly environments: Environments;
  private readonly keys: string[];
  private tokens = 0;

  status: Status | undefined;
  readonly onDidChangeState = this.stateEmitter.event;
  readonly onDidStart = this.startEmitter.event;
  readonly onStatus = this.statusEmitter.event;

  constructor(
    context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly answers: Answers,
  ) {
    this.environments = new Environments(path.join(context.globalStorageUri.fsPath, "server"));
    this.keys = serverKeys(context.extension);
  }

  get state(): ServerState {
    return this.lifecycle.state;
  }

  /** The process, for whoever has to know that it is another one. */
  get pid(): number | undefined {
    return this.lifecycle.client?.serverProcess?.pid;
  }

  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    options: RequestOptions = {},
  ): Promise<Requests[M]["result"]> {
    return this.ask(method, options, (tokens) => ({ ...params, ...tokens }));
  }

  async execute<C extends keyof Commands>(
    command: C,
    argument: Commands[C]["params"],
    options: RequestOptions = {},
  ): Promise<Commands[C]["result"]> {
    return this.ask(COMMAND, options, (tokens) => ({ command, arguments: [{ ...argument, ...tokens }] }));
  }

  /** Start it unless it runs. Rejects with words for the user, who has also been told. */
  start(): Promise<void> {
    return this.lifecycle.start();
  }

  restart(): Promise<void> {
    return this.lifecycle.restart();
  }

  /** Whoever asks while one is installed waits for that. */
  install(): Promise<void> {
    return this.lifecycle.install(() => installServer(this.environments, this.log));
  }

  dispose(): Promise<void> {
    return this.lifecycle.stop();
  }

  private async ask<Result>(
    method: string,
    options: RequestOptions,
    message: (tokens: Record<string, string>) => unknown,
  ): Promise<Result> {
    await this.start();
    const { client } = this.lifecycle;
    if (!client) throw new ServerError("ollm-lsp does not run.", "unavailable", "Run: ollm: Restart Server");
    // Without one, the client would take the missing token for a second parameter.
    const { onEvent, onProgress, token = new vscode.CancellationTokenSource().token } = options;
    const tokens: Record<string, string> = {};
    const listeners: vscode.Disposable[] = [];
    if (onEvent) {
      tokens["partialResultToken"] = `ollm-events-${++this.tokens}`;
      listeners.push(client.onProgress(chatEvents, tokens["partialResultToken"], onEvent));
    }
    if (onProgress) {
      tokens["workDoneToken"] = `ollm-work-${++this.tokens}`;
      listeners.push(
        client.onProgress(workDone, tokens["workDoneToken"], (value) => {
          if (value.kind !== "end") onProgress(value.message ?? "", value.percentage);
        }),
      );
    }
    try {
      return await client.sendRequest<Result>(method, message(tokens), token);
    } catch (error) {
      throw serverError(error, method === COMMAND);
    } finally {
      vscode.Disposable.from(...listeners).dispose();
    }
  }

  private async find(): Promise<Found> {
    try {
      const found = await locate({
        platform: process.platform,
        home: homedir(),
        setting: vscode.workspace.getConfiguration("ollm").get<string>("server.path") ?? "",
        python: activePython,
        path: process.env["PATH"] ?? "",
        privateEnvironment: await this.environments.current(),
        exists: (file) =>
          access(file, constants.X_OK).then(
            () => true,
            () => false,
          ),
      });
      if (found) return found;
    } catch (error) {
      if (!(error instanceof WrongSetting)) throw error;
      const { message } = error;
      throw new Missing(message, () => {
        void this.offer(vscode.window.showErrorMessage, message, {
          "Open Settings": openServerSettings,
          "Clear the Setting": clearServerPath,
        });
      });
    }
    const offer = (): void => {
      void this.offer(
        vscode.window.showInformationMessage,
        "ollm needs its language server, ollm-lsp, which is not installed. It can be installed for this extension alone.",
        { Install: () => shown(this.install()), "Choose Path": openServerSettings },
      );
    };
    throw new Missing("ollm-lsp is not installed.", offer, "Run: ollm: Install Server");
  }

  private newClient({ command, source }: Found): Client {
    this.log.info(`Starting ${command} (found by: ${source})`);
    const options: LanguageClientOptions = {
      // Every document: questions can be about any, and a chat document is Markdown.
      documentSelector: SCHEMES.map((scheme) => ({ scheme })),
      outputChannel: this.log,
      traceOutputChannel: traceChannel(this.log),
      initializationOptions: () => setOptions(this.keys),
      progressOnInitialization: false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        // The library takes away what the client has registered. Starting again is left to the one who starts.
        closed: () => {
          this.lifecycle.ended(client);
          return { action: CloseAction.DoNotRestart, handled: true, message: "The connection to ollm-lsp is closed." };
        },
      },
      initializationFailedHandler: () => false,
      middleware: {
        // What an ended server is not told any more, the next one is told anew.
        sendNotification: async (type, next, params) => {
          try {
            await next(type, params);
          } catch (error) {
            this.log.debug(String(error));
          }
        },
        provideCodeActions: async (document, range, context, token, next) =>
          context.only
            ? next(document, range, context, token)
            : forLightBulb(await next(document, range, context, token)),
        workspace: {
          configuration: (params: ConfigurationParams) =>
            params.items.map((item) =>
              item.section === "ollm"
                ? setOptions(this.keys, item.scopeUri ? vscode.Uri.parse(item.scopeUri) : undefined)
                : null,
            ),
        },
      },
      stdioOptions: { stdout: () => undefined, stderr: logLines },
    };
    const client = new Client("ollm", "ollm", { command, args: ["--stdio"] }, options);
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        capabilities.experimental = {
          ...(capabilities.experimental as object | undefined),
          ollm: { status: true, permission: true, diagnostics: true, trusted: vscode.workspace.isTrusted },
        };
      },
      initialize: (capabilities) => {
        this.checkVersion(capabilities.experimental);
      },
      getState: () => ({ kind: "static" }),
      clear: () => undefined,
    });
    client.onRequest("ollm/permission", (params: PermissionParams, token: vscode.CancellationToken) =>
      this.answers.permission(params, token),
    );
    client.onRequest("ollm/diagnostics", (params: DiagnosticsParams) => this.answers.diagnostics(params));
    client.onNotification("ollm/status", (status: Status) => {
      if (client !== this.lifecycle.client) return;
      this.status = status;
      this.statusEmitter.fire(status);
    });
    return client;
  }

  private tellOfEnd(isStartedAgain: boolean): void {
    if (!isStartedAgain) {
      this.tellOfFailure(`ollm-lsp has ended ${MOST_RESTARTS + 1} times in a few minutes, and is not started again.`);
      return;
    }
    this.log.warn("ollm-lsp has ended unexpectedly. It is started again.");
    vscode.window.setStatusBarMessage("$(warning) ollm-lsp ended unexpectedly and is started again", 10_000);
  }

  private checkVersion(experimental: unknown): void {
    const version = (experimental as { ollm?: { version?: unknown } } | undefined)?.ollm?.version;
    if (version === VERSION) return;
    this.log.warn(`The server speaks version ${String(version)} of the protocol, this extension ${VERSION}.`);
    void vscode.window.showWarningMessage(
      "This ollm-lsp does not fit the extension. Update both: the extension here, the server with pip.",
    );
  }

  private tellOfFailure(message: string): void {
    void this.offer(vscode.window.showErrorMessage, message, {
      "Show Log": () => {
        this.log.show();
      },
      Restart: () => shown(this.restart()),
    });
  }

  private async offer(
    show: (message: string, ...actions: string[]) => Thenable<string | undefined>,
    message: string,
    actions: Record<string, () => unknown>,
  ): Promise<void> {
    const chosen = await show(message, ...Object.keys(actions));
    if (chosen) await actions[chosen]?.();
  }
}

/** The light bulb hides source actions, and explaining and asking are such. */
function forLightBulb<T extends vscode.Command | vscode.CodeAction>(actions: T[] | null | undefined): T[] | undefined {
  for (const action of actions ?? []) {
    const kind = "kind" in action ? (action.kind as vscode.CodeActionKind | undefined) : undefined;
    if (kind && vscode.CodeActionKind.Source.contains(kind))
      Object.assign(action, { kind: vscode.CodeActionKind.Empty.append("ollm") });
  }
  return actions ?? undefined;
}

function openServerSettings(): void {
  void vscode.commands.executeCommand("workbench.action.openSettings", "ollm.server");
}

/** While the setting names something, no other server is looked for, not even one that was just installed. */
function clearServerPath(): Thenable<void> {
  return vscode.workspace.getConfiguration("ollm").update("server.path", undefined, vscode.ConfigurationTarget.Global);
}

/** The server's own lines say how grave they are. */
function logLines(input: NodeJS.ReadableStream, log: vscode.LogOutputChannel): void {
  readline.createInterface({ input }).on("line", (line) => {
    log.info(line);
  });
}
