import { describe, expect, test } from "vitest";
import samples from "../../../../../docs/protocol-samples.json";
import { apply, EMPTY, type Change, type Conversation, type Part } from "../../../src/chat/conversation";
import type { ChatEvent } from "../../../src/protocol";

const EVENTS = samples.events as unknown as readonly ChatEvent[];
const [STARTED] = EVENTS as readonly [ChatEvent];

function asked(...events: readonly ChatEvent[]): Conversation {
  const question: Change = {
    type: "asked",
    key: "k",
    parent: "",
    question: "What does this do?",
    attached: ["app.py"],
  };
  return [question, ...events.map((event): Change => ({ type: "event", event }))].reduce(apply, EMPTY);
}

function parts(conversation: Conversation): readonly Part[] {
  return conversation.responses.at(-1)?.parts ?? [];
}

function texts(conversation: Conversation): readonly string[] {
  return parts(conversation).map((part) => ("text" in part ? part.text : part.type));
}

describe("a conversation", () => {
  test("shows every event of the shared samples", () => {
    const conversation = asked(...EVENTS);
    expect(conversation.id).toBe("c0ffee");
    expect(conversation.responses).toHaveLength(1);
    expect(conversation.responses[0]).toMatchObject({
      key: "k",
      id: "f00d",
      provider: "ollama",
      model: "ollama:qwen2.5-coder:7b",
      finish: "error",
      usage: { inputTokens: 120, outputTokens: 6 },
      context: { tokens: 126, limit: 32768 },
      isKept: true,
    });
    expect(parts(conversation)).toMatchObject([
      { type: "reasoning", text: "The user asks about a function." },
      { type: "text", text: "It adds two numbers." },
      { type: "toolCall", title: "Read app.py", status: "completed", result: "def add(a, b):" },
      { type: "warning", message: "other.py is not open in the editor.", remedy: "Open it and ask again." },
      { type: "escalation", provider: "claude", model: "sonnet" },
      { type: "error", remedy: "Start Ollama." },
    ]);
  });

  test("has the question as its title until the server says otherwise", () => {
    expect(asked().title).toBe("What does this do?");
    expect(apply(asked(), { type: "titled", title: "Sums" }).title).toBe("Sums");
  });

  test("joins deltas of one kind, and begins anew after another kind", () => {
    const conversation = asked(
      STARTED,
      { type: "text", text: "a" },
      { type: "text", text: "b" },
      { type: "reasoning", text: "c" },
      { type: "text", text: "d" },
    );
    expect(texts(conversation)).toEqual(["ab", "c", "d"]);
  });

  test("leaves earlier parts and responses as the same objects", () => {
    const before = asked(STARTED, { type: "text", text: "a" }, { type: "reasoning", text: "b" });
    const after = apply(before, { type: "event", event: { type: "reasoning", text: "c" } });
    expect(parts(after)[0]).toBe(parts(before)[0]);
    expect(parts(before)[1]).toEqual({ type: "reasoning", text: "b" });
  });

  test("replaces a tool call by a later one with the same id, in its place", () => {
    const call = EVENTS.find((event) => event.type === "toolCall");
    if (!call) throw new Error("no sample");
    const conversation = asked(STARTED, { ...call, status: "running" }, { type: "text", text: "x" }, call);
    expect(parts(conversation)).toMatchObject([{ type: "toolCall", status: "completed" }, { type: "text" }]);
  });

  test("shows an escalation as a second try, which follows the first", () => {
    const second: ChatEvent = {
      type: "started",
      conversationId: "c0ffee",
      responseId: "beef",
      provider: "claude",
      model: "claude:sonnet",
    };
    const conversation = asked(
      STARTED,
      { type: "escalation", reason: "It broke.", provider: "claude", model: "sonnet" },
      second,
      { type: "turn", number: 1 },
      { type: "text", text: "Better." },
    );
    expect(conversation.responses).toMatchObject([
      { key: "k", id: "f00d", finish: "error" },
      { id: "beef", parent: "k", question: "What does this do?", isSecondTry: true, isKept: true },
    ]);
    expect(conversation.leaf).toBe(conversation.responses[1]?.key);
  });

  test("takes the head and the foot of a release out of the text", () => {
    const started: ChatEvent = {
      type: "started",
      conversationId: "c",
      responseId: "r",
      provider: "claude",
      model: "claude:sonnet",
    };
    const foot = "\n\n---\n*1,200 tokens read, 340 written · covered by your plan · 9.1 s*";
    const conversation = asked(
      started,
      { type: "text", text: "**claude** · sonnet\n\nIt divides" },
      { type: "text", text: ` by zero.${foot}` },
      { type: "finished", reason: "stop" },
    );
    expect(texts(conversation)).toEqual(["It divides by zero."]);
    expect(conversation.responses[0]?.foot).toBe("1,200 tokens read, 340 written · covered by your plan · 9.1 s");
  });

  test("does not keep an order such as /help, which has no turn", () => {
    expect(asked(STARTED, { type: "text", text: "…" }, { type: "finished", reason: "stop" }).responses[0]?.isKept).toBe(
      false,
    );
  });

  test("tells a failure once, also when no event did", () => {
    const failed: Change = { type: "settled", durationMs: 5, error: { message: "No model.", remedy: "Choose one." } };
    expect(parts(apply(asked(), failed))).toEqual([{ type: "error", message: "No model.", remedy: "Choose one." }]);
    expect(parts(apply(asked(...EVENTS), failed)).filter((part) => part.type === "error")).toHaveLength(1);
  });

  test("leaves no tool call open when it has ended", () => {
    const call = EVENTS.find((event) => event.type === "toolCall");
    if (!call) throw new Error("no sample");
    const calls = (["pending", "running", "awaitingPermission", "completed"] as const).map((status) => ({
      ...call,
      id: status,
      status,
    }));
    const statuses = (conversation: Conversation): readonly string[] =>
      (conversation.responses[0]?.parts ?? []).flatMap((part) => (part.type === "toolCall" ? [part.status] : []));
    const stopped = apply(asked(STARTED, ...calls), { type: "settled", durationMs: 5, isCancelled: true });
    expect(statuses(stopped)).toEqual(["failed", "failed", "denied", "completed"]);
    const secondTry = asked(STARTED, ...calls, { ...STARTED, responseId: "beef" } as ChatEvent);
    expect(statuses(secondTry)).toEqual(["failed", "failed", "denied", "completed"]);
  });

  test("is stopped when the request was cancelled before anything came", () => {
    const stopped = apply(asked(), { type: "settled", durationMs: 5, isCancelled: true });
    expect(stopped.responses[0]).toMatchObject({ finish: "cancelled", parts: [], durationMs: 5 });
  });
});
