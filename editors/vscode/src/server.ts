/** What the parts of the extension see of the language server. */
import type * as vscode from "vscode";
import type { ChatEvent, Commands, Requests, Status } from "./protocol";

/** `missing`: nothing to start was found. `failed`: it could not be started, or ended more often than it is started again. */
export type ServerState = "stopped" | "starting" | "running" | "missing" | "failed";

/** The kinds of documents that the server is told of. */
export const SCHEMES: readonly string[] = ["file", "untitled", "vscode-remote"];

export interface RequestOptions {
  /** Gets the chat events of a request or command that streams, in their order, before it is answered. */
  onEvent?: (event: ChatEvent) => void;
  /** Gets what keeps the user waiting. With it, nothing is shown in the editor's own places for progress. */
  onProgress?: (message: string, percentage: number | undefined) => void;
  token?: vscode.CancellationToken;
}

export interface Server {
  readonly state: ServerState;
  readonly onDidChangeState: vscode.Event<ServerState>;
  /** The server is ready, for the first time or again. What was known of an earlier one may be outdated. */
  readonly onDidStart: vscode.Event<void>;
  /** The last status that the server told. */
  readonly status: Status | undefined;
  readonly onStatus: vscode.Event<Status>;
  /** Starts the server where it does not run. Fails with a {@link ServerError}. */
  request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    options?: RequestOptions,
  ): Promise<Requests[M]["result"]>;
  execute<C extends keyof Commands>(
    command: C,
    argument: Commands[C]["params"],
    options?: RequestOptions,
  ): Promise<Commands[C]["result"]>;
}

/** Why a request failed, in words for the user. `code` is one of docs/protocol.md, or `cancelled`, or `unavailable`. */
export class ServerError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly remedy = "",
    /** The user has been told already. */
    readonly isTold = false,
  ) {
    super(message);
    this.name = "ServerError";
  }

  /** What happened, and what helps. */
  get words(): string {
    return [this.message, this.remedy].filter(Boolean).join(" ");
  }

  get isCancelled(): boolean {
    return this.code === "cancelled";
  }

  /** The server does not have the conversation any more: it was deleted elsewhere, or lost with a server that kept none. */
  get isLost(): boolean {
    return this.code === "conversation_not_found";
  }
}
