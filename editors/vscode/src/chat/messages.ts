/** What the host and the chat view tell each other. */
import type { ConversationSummary, ImageContent, KrakenState, Model, ModelsList } from "../protocol";
import type { ServerState } from "../server";
import type { Change, Conversation } from "./conversation";

/** What of the editor goes with the next question. */
export interface Place {
  readonly name: string;
  readonly uri: string;
  /** `4` or `4–9`; empty where nothing is selected. */
  readonly lines: string;
}

/** What stands around the field in which one writes. */
export interface Surroundings {
  /** The active document, or the selection that was attached; nothing where there is none. */
  readonly place: Place | null;
  /** Whether the place was attached rather than being where the cursor happens to be. */
  readonly isPinned: boolean;
  readonly isPlaceSent: boolean;
  readonly files: readonly { readonly uri: string; readonly name: string }[];
  /** The model that answers next; empty while nobody knows. */
  readonly model: string;
  readonly kraken: KrakenState;
  readonly server: ServerState;
}

export interface Suggestion {
  /** What takes the place of the word that was typed. */
  readonly insert: string;
  readonly label: string;
  readonly detail: string;
}

/** A question that is to be sent, or could be. */
export interface Draft {
  readonly text: string;
  /** The key of the response that it follows; empty for the beginning of the conversation. */
  readonly parent: string;
  /** The key of the response that it asks for again, perhaps in other words; empty where it is new. */
  readonly again: string;
  readonly images: readonly ImageContent[];
}

export type CodeAction = "copy" | "insert" | "apply";

export type ToView =
  | { readonly type: "conversation"; readonly conversation: Conversation; readonly isRunning: boolean }
  | { readonly type: "changes"; readonly changes: readonly Change[]; readonly isRunning: boolean }
  | { readonly type: "surroundings"; readonly surroundings: Surroundings }
  | { readonly type: "conversations"; readonly conversations: readonly ConversationSummary[] }
  | { readonly type: "models"; readonly models: readonly Model[]; readonly errors: ModelsList["errors"] }
  | { readonly type: "suggestions"; readonly for: string; readonly suggestions: readonly Suggestion[] }
  /** Work-done progress of the answer: what keeps the user waiting. */
  | { readonly type: "progress"; readonly message: string }
  /** Show the list of conversations, the models, or the field in which one writes, perhaps with a text. */
  | { readonly type: "show"; readonly what: "conversations" | "models" | "composer"; readonly text?: string };

export type FromView =
  | { readonly type: "ready"; readonly conversationId: string; readonly leaf: string }
  /** `isRelease`: an external provider shall answer. */
  | ({ readonly type: "send"; readonly isRelease: boolean } & Draft)
  /** Show what would be sent along. */
  | ({ readonly type: "context" } & Draft)
  | { readonly type: "stop" }
  | { readonly type: "choose"; readonly leaf: string }
  | { readonly type: "new" }
  | { readonly type: "list" }
  | { readonly type: "open"; readonly conversationId: string }
  | { readonly type: "rename"; readonly conversationId: string; readonly title: string }
  | { readonly type: "delete"; readonly conversationId: string; readonly title: string }
  | { readonly type: "listModels" }
  | { readonly type: "model"; readonly model: string }
  | { readonly type: "attach" }
  | { readonly type: "detach"; readonly uri: string }
  | { readonly type: "detachSelection" }
  | { readonly type: "sendPlace"; readonly isSent: boolean }
  | { readonly type: "suggest"; readonly for: string }
  | { readonly type: "code"; readonly action: CodeAction; readonly code: string; readonly info: string }
  | { readonly type: "copy"; readonly text: string }
  | { readonly type: "link"; readonly href: string }
  | { readonly type: "location"; readonly uri: string; readonly line: number }
  /** Show what a tool call wants permission for. */
  | { readonly type: "review" }
  | { readonly type: "server"; readonly action: "install" | "restart" };

/** What the view keeps for itself over a reload of the window. */
export interface Saved {
  readonly conversationId: string;
  readonly leaf: string;
  readonly draft: string;
}
