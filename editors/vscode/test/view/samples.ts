/** Conversations for the tests of the view. */
import { apply, EMPTY, type Change, type Conversation } from "../../src/chat/conversation";
import type { ChatEvent } from "../../src/protocol";

export const MARKDOWN = `The function \`greet\` builds its text by **joining** the parts in a loop, which copies the text each time.

## A faster way

1. Collect the parts in a list.
2. Join them *once*, at the end.

\`\`\`python
def greet(names: list[str]) -> str:
    """Greet everybody, in the order given."""
    parts = [f"Hello, {name}!" for name in names if name]  # empty names are left out
    return "\\n".join(parts) or "Nobody is here."
\`\`\`

| names | before | after |
| --- | ---: | ---: |
| 100 | 0.2 ms | 0.1 ms |
| 10,000 | 38 ms | 1.4 ms |

> The order of the names stays the same.

See [str.join](https://docs.python.org/3/library/stdtypes.html#str.join) for more.
`;

export function ask(question: string, ...events: readonly ChatEvent[]): readonly Change[] {
  const key = `k${Math.random()}`;
  return [
    { type: "asked", key, parent: "", question, attached: [] },
    ...events.map((event): Change => ({ type: "event", event })),
  ];
}

export const STARTED: ChatEvent = {
  type: "started",
  conversationId: "c0ffee",
  responseId: "f00d",
  provider: "ollama",
  model: "ollama:qwen2.5-coder:7b",
};

/** One answer with all that an answer can have. */
export function everything(): Conversation {
  const changes: Change[] = [
    ...exchange("a", "", "What does this function do, and can it be faster?", "f00d", [
      { type: "reasoning", text: "The user asks about a function. I have to read it first." },
      { type: "text", text: "Let me look at it." },
      tool("1", "Read greeting.py", "read", "completed", 3),
      tool("2", "Search for greet(", "search", "completed"),
      { type: "turn", number: 2 },
      { type: "text", text: MARKDOWN },
      usage(1840, 312),
      { type: "finished", reason: "stop" },
    ]),
    ...exchange("b", "a", "Change it, please", "beef", [
      {
        type: "warning",
        code: "not_open",
        message: "other.py is not open in the editor.",
        remedy: "Open it and ask again.",
      },
      tool("3", "Edit greeting.py", "edit", "denied", 3),
      tool("4", "Run python -m pytest", "execute", "failed"),
      {
        type: "escalation",
        reason: "The local model failed: three tool calls in a row.",
        provider: "claude",
        model: "sonnet",
      },
      {
        type: "error",
        code: "connection",
        message: "Cannot reach http://127.0.0.1:11434 (All connection attempts failed).",
        remedy: "Start Ollama.",
      },
      { type: "finished", reason: "error" },
    ]),
    ...exchange("c", "a", "Change it, but keep the signature", "cafe", [
      { type: "text", text: "Done: the signature is the same." },
      tool("5", "Edit greeting.py", "edit", "awaitingPermission", 3),
      usage(2100, 40),
    ]),
  ];
  return changes.reduce(apply, EMPTY);
}

export function exchange(
  key: string,
  parent: string,
  question: string,
  id: string,
  events: readonly ChatEvent[],
): readonly Change[] {
  const isEnded = events.some((event) => event.type === "finished");
  return [
    { type: "asked", key, parent, question, attached: key === "a" ? ["greeting.py:4–9"] : [] },
    { type: "event", event: { ...STARTED, responseId: id } as ChatEvent },
    { type: "event", event: { type: "turn", number: 1 } },
    ...events.map((event): Change => ({ type: "event", event })),
    ...(isEnded ? [{ type: "settled", durationMs: 8420 } as const] : []),
  ];
}

type ToolCall = Extract<ChatEvent, { type: "toolCall" }>;

function tool(id: string, title: string, kind: ToolCall["kind"], status: ToolCall["status"], line?: number): ToolCall {
  const locations = line === undefined ? [] : [{ uri: "file:///project/greeting.py", line }];
  return {
    type: "toolCall",
    id,
    name: "tool",
    title,
    kind,
    arguments: { path: "greeting.py" },
    locations,
    status,
    result: "def greet():",
  };
}

function usage(inputTokens: number, outputTokens: number): ChatEvent {
  const cost = { amount: 0.0012, currency: "USD", known: true };
  return {
    type: "usage",
    inputTokens,
    outputTokens,
    cost,
    contextTokens: inputTokens + outputTokens,
    contextLimit: 8192,
  };
}
