/** The messages between the extension and ollm-lsp, as docs/protocol.md describes them. */

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

export interface Cost {
  amount: number;
  currency: string;
  known: boolean;
}

export type FinishReason = "stop" | "length" | "tool_use" | "content_filter" | "cancelled" | "max_turns" | "error";

export type ToolKind = "read" | "search" | "edit" | "create" | "delete" | "move" | "execute" | "other";

export type ToolStatus = "pending" | "running" | "awaitingPermission" | "completed" | "failed" | "denied";

export type KrakenState = "ready" | "active" | "none" | "over_budget";

export interface Location {
  uri: string;
  /** From 0. */
  line?: number;
}

export interface Warning {
  code: string;
  message: string;
  remedy?: string;
}

// Chat events

export interface StartedEvent {
  type: "started";
  conversationId: string;
  responseId: string;
  provider: string;
  model: string;
}

export interface TurnEvent {
  type: "turn";
  number: number;
}

export interface TextEvent {
  type: "text";
  text: string;
}

export interface ReasoningEvent {
  type: "reasoning";
  text: string;
}

/** A later one with the same id replaces the earlier. */
export interface ToolCallEvent {
  type: "toolCall";
  id: string;
  name: string;
  title: string;
  kind: ToolKind;
  arguments: Record<string, unknown>;
  locations: Location[];
  status: ToolStatus;
  result?: string;
}

export interface UsageEvent extends Usage {
  type: "usage";
  contextTokens: number;
  contextLimit: number;
  cost: Cost;
}

export interface WarningEvent extends Warning {
  type: "warning";
}

export interface EscalationEvent {
  type: "escalation";
  reason: string;
  provider: string;
  model: string;
}

export interface ErrorEvent {
  type: "error";
  code: string;
  message: string;
  remedy: string;
}

/** Always last, exactly once. */
export interface FinishedEvent {
  type: "finished";
  reason: FinishReason;
}

export type ChatEvent =
  | StartedEvent
  | TurnEvent
  | TextEvent
  | ReasoningEvent
  | ToolCallEvent
  | UsageEvent
  | WarningEvent
  | EscalationEvent
  | ErrorEvent
  | FinishedEvent;

// Requests, client → server

export interface ImageContent {
  mimeType: string;
  /** In base64. */
  data: string;
}

export interface ChatContext {
  uri?: string;
  range?: Range;
  files?: string[];
  images?: ImageContent[];
  /** Documents that must not go along, though they are open. */
  exclude?: readonly string[];
  /** False: only what is named goes along. */
  openBuffers?: boolean;
}

export interface ChatSendParams {
  text: string;
  conversationId?: string;
  /** Branch from that response; empty: from the beginning. */
  parentId?: string;
  /** As `provider:name`. */
  model?: string;
  /** False: the model may call none. */
  tools?: boolean;
  context?: ChatContext;
}

export interface ChatSendResult {
  conversationId: string;
  responseId: string;
  model: string;
  text: string;
  finishReason: FinishReason;
  usage: Usage;
  cost: Cost;
  durationMs: number;
}

export interface ConversationSummary {
  id: string;
  title: string;
  created: string;
  updated: string;
  model: string;
  cost: Cost;
  responses: number;
}

export type ResponseItem =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "toolCall"; id: string; name: string; arguments: Record<string, unknown> }
  | { type: "toolResult"; id: string; name: string; text: string; isError: boolean };

export interface KeptResponse {
  id: string;
  parentId: string | null;
  model: string;
  /** What was asked; of a recap, what stands for everything before it. */
  text: string;
  items: ResponseItem[];
  finishReason: FinishReason;
  usage: Usage;
  cost: Cost;
  began: string;
  ended?: string;
  isRecap?: boolean;
}

export interface Conversation {
  id: string;
  title: string;
  created: string;
  updated: string;
  /** Which `/model` chose for it. */
  model?: string;
  /** In the order in which they began. */
  responses: KeptResponse[];
}

export type ContextSource =
  | "system"
  | "tools"
  | "history"
  | "import"
  | "openBuffer"
  | "attached"
  | "activeDocument"
  | "diagnostics"
  | "selection"
  | "question"
  | "image";

export interface ContextPart {
  source: ContextSource;
  uri: string | null;
  range: Range | null;
  tokens: number;
  reason: string;
  text: string;
}

export interface ContextPreview {
  model: string;
  parts: ContextPart[];
  totalTokens: number;
  limit: number;
  isEstimate: boolean;
  warnings: Warning[];
}

export interface ModelCapabilities {
  streaming: boolean;
  tools: boolean;
  vision: boolean;
  audio: boolean;
  reasoning: boolean;
}

export interface Model {
  id: string;
  provider: string;
  name: string;
  sizeBytes?: number;
  contextWindow?: number;
  capabilities: ModelCapabilities;
  default: boolean;
}

export interface ModelsList {
  models: Model[];
  /** Providers that could not answer. */
  errors: { provider: string; code: string; message: string; remedy: string }[];
}

export interface ReleaseParams extends Omit<ChatSendParams, "model"> {
  provider?: string;
  inheritContext?: boolean;
  returnToLocal?: boolean;
  maxTurns?: number;
}

export interface KrakenProvider {
  name: string;
  type: "cli" | "api";
  available: boolean;
  model: string;
  version?: string;
  authRequired?: boolean;
  error?: string;
  remedy?: string;
}

export interface Budget {
  limit: number | null;
  spent: number;
  reserved: number;
  remaining: number | null;
  currency: string;
}

export interface KrakenStatus {
  state: KrakenState;
  providers: KrakenProvider[];
  budget: Budget;
}

export interface KrakenRelease {
  timestamp: string;
  provider: string;
  model: string;
  /** Who is paid. */
  kind: "api" | "cli" | "plan";
  usage: Usage;
  cost: Cost;
  success: boolean;
  conversationId: string;
  error?: string;
}

interface Call<Params, Result> {
  params: Params;
  result: Result;
}

/** What can be asked of the server, by method. */
export interface Requests {
  "ollm/chat/send": Call<ChatSendParams, ChatSendResult>;
  "ollm/chat/list": Call<Record<string, never>, { conversations: ConversationSummary[] }>;
  "ollm/chat/get": Call<{ conversationId: string }, Conversation>;
  "ollm/chat/rename": Call<{ conversationId: string; title: string }, null>;
  "ollm/chat/delete": Call<{ conversationId: string }, null>;
  "ollm/context/preview": Call<ChatContext & Partial<Omit<ChatSendParams, "context">>, ContextPreview>;
  "ollm/models/list": Call<{ provider?: string }, ModelsList>;
  "ollm/models/pull": Call<{ model: string }, { model: string }>;
  "ollm/models/show": Call<{ model: string }, Model & { facts: Record<string, string> }>;
  "ollm/models/delete": Call<{ model: string }, null>;
  "ollm/kraken/release": Call<ReleaseParams, ChatSendResult & { provider: string }>;
  "ollm/kraken/status": Call<Record<string, never>, KrakenStatus>;
  "ollm/kraken/history": Call<{ limit?: number }, { releases: KrakenRelease[] }>;
}

// Commands

/** The lines of a document that an action is about. */
export interface Place {
  uri?: string;
  range?: Range;
}

export interface ActionParams extends Place {
  text?: string;
  /** Of `ollm.action`: any action, by its name. */
  name?: string;
  diagnostics?: unknown[];
  model?: string;
  conversationId?: string;
}

export interface ActionResult extends ChatSendResult {
  /** Of an action that changes code: whether the change was made. */
  applied?: boolean;
  /** Why nothing was changed; missing when the user said no. */
  reason?: string;
}

export interface Finding {
  subject: string;
  level: "ok" | "warning" | "error";
  message: string;
  remedy: string | null;
}

type ReleaseHereParams = Partial<ReleaseParams> & Place;

/** Every command of the server. */
export interface Commands {
  "ollm.chat.open": Call<Place & { text?: string; model?: string; conversationId?: string }, { uri: string }>;
  "ollm.chat.send": Call<{ uri?: string; line?: number } & Partial<ChatSendParams>, { uri?: string }>;
  "ollm.chat.stop": Call<{ uri?: string }, null>;
  "ollm.context.show": Call<Requests["ollm/context/preview"]["params"], ContextPreview>;
  "ollm.explain": Call<ActionParams, ActionResult>;
  "ollm.fix": Call<ActionParams, ActionResult>;
  "ollm.refactor": Call<ActionParams, ActionResult>;
  "ollm.document": Call<ActionParams, ActionResult>;
  "ollm.tests": Call<ActionParams, ActionResult>;
  "ollm.edit": Call<ActionParams, ActionResult>;
  "ollm.ask": Call<ActionParams, ActionResult>;
  "ollm.action": Call<ActionParams, ActionResult>;
  "ollm.proposal.accept": Call<{ id: string; hunk?: number; feedback?: string }, null>;
  "ollm.proposal.reject": Call<{ id: string; hunk?: number; feedback?: string }, null>;
  "ollm.proposal.show": Call<{ id: string }, { title: string; detail: string }>;
  "ollm.proposal.revert": Call<{ id?: string }, { id: string }>;
  "ollm.models.list": Call<{ provider?: string }, ModelsList>;
  "ollm.models.pull": Call<{ model: string }, { model: string }>;
  "ollm.kraken.release": Call<ReleaseHereParams, ChatSendResult & { provider: string }>;
  "ollm.kraken.status": Call<Record<string, never>, KrakenStatus>;
  "ollm.kraken.history": Call<{ limit?: number }, { releases: KrakenRelease[] }>;
  "ollm.kraken.config": Call<Record<string, never>, { uri: string }>;
  "ollm.cancel": Call<{ token?: string | number; conversationId?: string }, { stopped: number }>;
  "ollm.doctor": Call<Record<string, never>, { findings: Finding[] }>;
}

// Server → client

export interface Status {
  kraken: KrakenState;
  model: string;
  busy: boolean;
  /** In dollars. */
  spent: number;
  budget?: number | null;
  contextTokens?: number;
  contextLimit?: number;
}

export type OptionId = "allow_once" | "allow_session" | "allow_always" | "reject_once" | "reject_always";

export interface PermissionOption {
  id: OptionId;
  label: string;
}

export interface FileChange {
  uri: string;
  /** Null when not open. */
  version: number | null;
  diff: string;
  /** Null for a move and a deletion. */
  newText: string | null;
  /** Of a move. */
  newUri?: string;
}

export interface PermissionParams {
  id: string;
  title: string;
  kind: ToolKind;
  /** Markdown: all that will happen. */
  detail: string;
  options: PermissionOption[];
  changes?: FileChange[];
  /** Of a release: the most that it can take. */
  estimate?: { tokens: number; cost: Cost };
  /** Of a release: Markdown of all that is sent. */
  briefing?: string;
}

export interface PermissionResult {
  optionId: OptionId;
  /** Words for the model. */
  feedback?: string;
  /** Of a yes to a proposal: those that the user wants; without it, all. */
  changes?: { uri: string }[];
  /** Of a release: what is sent instead, as the user edited it. */
  briefing?: string;
}

export interface DiagnosticsParams {
  /** Without it: all documents. */
  uri?: string;
}

export interface WireDiagnostic {
  range: Range;
  severity?: number;
  source?: string;
  code?: string | number;
  message: string;
}

export interface DiagnosticsResult {
  diagnostics: { uri: string; diagnostics: WireDiagnostic[] }[];
}

/** The data of every error response. */
export interface ErrorData {
  code: string;
  remedy: string;
}

/** For the default branch of a switch over a closed union. */
export function unreachable(value: never): never {
  throw new Error(`unexpected ${JSON.stringify(value)}`);
}
