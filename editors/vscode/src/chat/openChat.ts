/** A conversation that is open in this window: shown, or answering while another one is shown. */
import * as vscode from "vscode";
import type { ChatContext, ChatEvent, ChatSendResult } from "../protocol";
import { ServerError, type RequestOptions } from "../server";
import { apply, EMPTY, type Change, type Conversation, type Failure } from "./conversation";

/** How long changes are collected before the view is told, in milliseconds. */
const COLLECTING = 16;
/** Counts the questions of all conversations: the view tells responses of different ones apart by their keys. */
let questions = 0;

export interface Asked {
  readonly question: string;
  /** The key of the response that the question follows. */
  readonly parent: string;
  readonly attached: readonly string[];
  /** What was sent along. */
  readonly context: ChatContext;
  /** Whether the words only tell the user what was asked elsewhere, and are no question that was sent. */
  readonly isTitle?: boolean;
}

export type Run = (options: RequestOptions) => Promise<ChatSendResult>;

/** What an answer came of. */
export interface Origin {
  readonly asked: Asked;
  readonly run: Run;
}

export class OpenChat {
  private running: vscode.CancellationTokenSource | null = null;
  private untold: Change[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly origins = new Map<string, Origin>();

  /** `tell` gets what has changed, `progress` what keeps the user waiting. */
  constructor(
    public conversation: Conversation,
    private readonly tell: (chat: OpenChat, changes: readonly Change[]) => void,
    private readonly progress: (chat: OpenChat, message: string) => void,
  ) {}

  get isRunning(): boolean {
    return this.running !== null;
  }

  get isEmpty(): boolean {
    return this.conversation === EMPTY;
  }

  /** What the response with this key came of, where it was asked for in this window. */
  origin(key: string): Origin | undefined {
    return this.origins.get(key);
  }

  /** Ask, and follow the answer to its end. Failures are shown in the conversation, and then thrown. */
  async ask(asked: Asked, run: Run): Promise<ChatSendResult> {
    const { question, parent, attached } = asked;
    const key = `new-${++questions}`;
    const source = new vscode.CancellationTokenSource();
    const began = Date.now();
    this.running = source;
    this.origins.set(key, { asked, run });
    this.change({ type: "asked", key, question, parent, attached, isContextKept: true });
    let settled: Change | undefined;
    try {
      const result = await run({
        onEvent: (event) => {
          this.receive(event);
        },
        onProgress: (message) => {
          this.progress(this, message);
        },
        token: source.token,
      });
      settled = { type: "settled", durationMs: result.durationMs };
      return result;
    } catch (error) {
      const isCancelled = error instanceof ServerError && error.isCancelled;
      const durationMs = Date.now() - began;
      settled = { type: "settled", durationMs, ...(isCancelled ? { isCancelled } : { error: failure(error) }) };
      if (error instanceof ServerError && error.isLost) this.change({ type: "lost" });
      throw error;
    } finally {
      this.running = null;
      source.dispose();
      if (settled) this.change(settled);
      this.flush();
    }
  }

  stop(): void {
    this.running?.cancel();
  }

  /** Change something at once. */
  change(change: Change): void {
    this.conversation = apply(this.conversation, change);
    this.untold.push(change);
    this.timer ??= setTimeout(() => {
      this.flush();
    }, COLLECTING);
  }

  /** What was not told yet is part of the conversation that is told as a whole. */
  forgetUntold(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.untold = [];
  }

  private receive(event: ChatEvent): void {
    this.change({ type: "event", event });
  }

  private flush(): void {
    const changes = this.untold;
    this.forgetUntold();
    if (changes.length > 0) this.tell(this, changes);
  }
}

function failure(error: unknown): Failure {
  if (!(error instanceof ServerError))
    return { message: error instanceof Error ? error.message : String(error), remedy: "" };
  if (!error.isLost) return { message: error.message, remedy: error.remedy };
  return {
    message: "The server does not have this conversation any more.",
    remedy: "Ask again: that begins a new one, without the earlier messages.",
  };
}
