/** A conversation as it is shown: a tree of responses, and how it changes. The host and the view compute the same. */
import type { ChatEvent, Cost, FinishReason, Location, ToolKind, ToolStatus, Usage } from "../protocol";
import { withoutFoot, withoutHead } from "./labels";

export interface Conversation {
  /** Empty until the server has given one. */
  readonly id: string;
  readonly title: string;
  /** That `/model` chose for it; empty for none. */
  readonly model: string;
  readonly responses: readonly Response[];
  /** The key of the response at the end of the branch that is shown; empty for none. */
  readonly leaf: string;
}

export interface Response {
  /** Names it in the view, from before the server has given it an id until the conversation is closed. */
  readonly key: string;
  readonly id: string;
  /** The key of the response that it follows; empty for a first one. */
  readonly parent: string;
  readonly question: string;
  /** The names of what was sent along. */
  readonly attached: readonly string[];
  /** Whether the host still has what was sent along, and sends it again with the same question. */
  readonly isContextKept: boolean;
  readonly provider: string;
  readonly model: string;
  readonly parts: readonly Part[];
  /** Nothing until the answer has ended. */
  readonly finish: FinishReason | null;
  readonly usage: Usage | null;
  readonly cost: Cost | null;
  readonly context: ContextFill | null;
  readonly durationMs: number;
  /** What an external provider says that the answer took, in its own words. */
  readonly foot: string;
  /** Whether messages may follow it: the server does not keep orders such as `/help`, nor what failed too early. */
  readonly isKept: boolean;
  /** Whether it stands for everything before it, in few words. */
  readonly isRecap: boolean;
  /** Whether it answers the question of the response before it, which failed. */
  readonly isSecondTry: boolean;
}

export interface ContextFill {
  readonly tokens: number;
  readonly limit: number;
}

export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | ToolPart
  | { readonly type: "warning"; readonly message: string; readonly remedy: string }
  | { readonly type: "error"; readonly message: string; readonly remedy: string }
  | { readonly type: "escalation"; readonly reason: string; readonly provider: string; readonly model: string };

export interface ToolPart {
  readonly type: "toolCall";
  readonly id: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly arguments: unknown;
  readonly locations: readonly Location[];
  readonly status: ToolStatus;
  readonly result: string;
}

export type Change =
  | {
      readonly type: "asked";
      readonly key: string;
      readonly parent: string;
      readonly question: string;
      readonly attached: readonly string[];
      readonly isContextKept?: boolean;
    }
  | { readonly type: "event"; readonly event: ChatEvent }
  /** The request is answered; `error` where it failed without an event that says so. */
  | { readonly type: "settled"; readonly durationMs: number; readonly error?: Failure; readonly isCancelled?: boolean }
  | { readonly type: "chosen"; readonly leaf: string }
  | { readonly type: "titled"; readonly title: string }
  /** Another model shall answer in it. */
  | { readonly type: "model"; readonly model: string }
  /** The server does not have it any more: what comes next begins a new one. */
  | { readonly type: "lost" };

export interface Failure {
  readonly message: string;
  readonly remedy: string;
}

export const EMPTY: Conversation = { id: "", title: "", model: "", responses: [], leaf: "" };

/** The conversation after a change. */
export function apply(conversation: Conversation, change: Change): Conversation {
  switch (change.type) {
    case "asked":
      return {
        ...conversation,
        title: conversation.title || change.question,
        responses: [...conversation.responses, { ...blank(change.key, change.parent), ...asked(change) }],
        leaf: change.key,
      };
    case "event":
      return change.event.type === "started" ? start(conversation, change.event) : answer(conversation, change.event);
    case "settled":
      return replaceLast(conversation, (response) => settle(response, change));
    case "chosen":
      return { ...conversation, leaf: change.leaf };
    case "titled":
      return { ...conversation, title: change.title };
    case "model":
      return { ...conversation, model: change.model };
    case "lost":
      return {
        ...conversation,
        id: "",
        model: "",
        responses: conversation.responses.map((response) => ({ ...response, isKept: false })),
      };
  }
}

/** A response of which nothing is known yet. */
export function blank(key: string, parent: string): Response {
  return {
    key,
    id: "",
    parent,
    question: "",
    attached: [],
    isContextKept: false,
    provider: "",
    model: "",
    parts: [],
    finish: null,
    usage: null,
    cost: null,
    context: null,
    durationMs: 0,
    foot: "",
    isKept: false,
    isRecap: false,
    isSecondTry: false,
  };
}

function asked({
  question,
  attached,
  isContextKept = false,
}: Extract<Change, { type: "asked" }>): Pick<Response, "question" | "attached" | "isContextKept"> {
  return { question, attached, isContextKept };
}

/** An answer begins: that of the pending question, or a second try by an external provider. */
function start(conversation: Conversation, event: Extract<ChatEvent, { type: "started" }>): Conversation {
  const begun = { id: event.responseId, provider: event.provider, model: event.model };
  const last = conversation.responses.at(-1);
  const known = { ...conversation, id: event.conversationId };
  if (!last) return known;
  if (!last.id) return replaceLast(known, (response) => ({ ...response, ...begun }));
  const second: Response = {
    ...blank(`${last.key}+`, last.key),
    ...begun,
    question: last.question,
    isSecondTry: true,
  };
  const ended = replaceLast(known, (response) => ({
    ...response,
    finish: response.finish ?? "error",
    parts: withoutOpenTools(response.parts),
  }));
  return { ...ended, responses: [...ended.responses, second], leaf: second.key };
}

function answer(conversation: Conversation, event: Exclude<ChatEvent, { type: "started" }>): Conversation {
  return replaceLast(conversation, (response) => grow(response, event));
}

function grow(response: Response, event: Exclude<ChatEvent, { type: "started" }>): Response {
  switch (event.type) {
    case "turn":
      return { ...response, isKept: true };
    case "text":
      return { ...response, parts: withText(response, event.text) };
    case "reasoning":
      return { ...response, parts: withDelta(response.parts, "reasoning", event.text) };
    case "toolCall":
      return { ...response, parts: withTool(response.parts, { ...event, result: event.result ?? "" }) };
    case "usage":
      return {
        ...response,
        usage: { inputTokens: event.inputTokens, outputTokens: event.outputTokens },
        cost: event.cost,
        context: { tokens: event.contextTokens, limit: event.contextLimit },
      };
    case "warning":
      return withPart(response, { type: "warning", message: event.message, remedy: event.remedy ?? "" });
    case "error":
      return withPart(response, { type: "error", message: event.message, remedy: event.remedy });
    case "escalation":
      return withPart(response, event);
    case "finished":
      return { ...response, finish: event.reason, ...withoutFoot(response.parts) };
  }
}

function settle(response: Response, change: Extract<Change, { type: "settled" }>): Response {
  const { durationMs, error } = change;
  const finish = response.finish ?? (change.isCancelled ? "cancelled" : error ? "error" : "stop");
  const settled = { ...response, durationMs, finish, parts: withoutOpenTools(response.parts) };
  const isTold = response.parts.some((part) => part.type === "error");
  return error && !isTold ? withPart(settled, { type: "error", ...error }) : settled;
}

function withPart(response: Response, part: Part): Response {
  return { ...response, parts: [...response.parts, part] };
}

/** The head that an external provider's answer begins with is not said twice: the view shows who answers. */
function withText(response: Response, delta: string): readonly Part[] {
  const isFirst = !response.parts.some((part) => part.type === "text");
  return withDelta(response.parts, "text", isFirst ? withoutHead(delta, response.model) : delta);
}

function withDelta(parts: readonly Part[], type: "text" | "reasoning", delta: string): readonly Part[] {
  const last = parts.at(-1);
  return last?.type === type
    ? [...parts.slice(0, -1), { type, text: last.text + delta }]
    : [...parts, { type, text: delta }];
}

function withTool(parts: readonly Part[], call: ToolPart): readonly Part[] {
  const at = parts.findIndex((part) => part.type === "toolCall" && part.id === call.id);
  return at < 0 ? [...parts, call] : parts.with(at, call);
}

/** Nothing goes on when the answer has ended, however it did: nobody runs a tool, and nobody waits for a permission. */
function withoutOpenTools(parts: readonly Part[]): readonly Part[] {
  return parts.map((part) => {
    if (part.type !== "toolCall") return part;
    if (part.status === "awaitingPermission") return { ...part, status: "denied" };
    return part.status === "pending" || part.status === "running" ? { ...part, status: "failed" } : part;
  });
}

function replaceLast(conversation: Conversation, replace: (response: Response) => Response): Conversation {
  const last = conversation.responses.at(-1);
  if (!last) return conversation;
  return { ...conversation, responses: [...conversation.responses.slice(0, -1), replace(last)] };
}
