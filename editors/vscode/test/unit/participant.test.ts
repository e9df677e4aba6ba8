import { beforeEach, expect, test, vi } from "vitest";
import { ServerError, type RequestOptions, type Server } from "../../src/server";
import { participant } from "../../src/native/participant";

type Handler = (request: object, context: object, stream: object, token: object) => Promise<object>;

const host = vi.hoisted(() => ({
  handler: undefined as Handler | undefined,
  Turn: class ChatResponseTurn {
    result: object = {};
  },
}));

vi.mock("vscode", () => ({
  ThemeIcon: Object,
  ChatResponseTurn: host.Turn,
  window: {},
  chat: {
    createChatParticipant: (_: string, handler: Handler) => {
      host.handler = handler;
      return {};
    },
  },
}));

const KEPT = { conversationId: "c0ffee", responseId: "f00d" };
const LOST = new ServerError("There is none.", "conversation_not_found");

/** What was sent, and how each request goes. */
let sent: { conversationId?: string; parentId?: string }[];
let outcomes: ((options: RequestOptions) => Promise<object>)[];
let progress: string[];

beforeEach(() => {
  [sent, outcomes, progress] = [[], [], []];
  const request = (_: string, params: (typeof sent)[number], options: RequestOptions): Promise<object> => {
    sent.push(params);
    return outcomes.shift()?.(options) ?? Promise.reject(new Error("too many requests"));
  };
  participant({ request } as unknown as Server);
});

/** Ask `@ollm`, after an answer that left this. */
async function ask(kept?: object): Promise<object | undefined> {
  const turn = Object.assign(new host.Turn(), { result: { metadata: kept } });
  const stream = { progress: (words: string) => progress.push(words), markdown: () => undefined };
  const request = { prompt: "Hi", model: { vendor: "other" }, references: [] };
  return host.handler?.(request, { history: kept ? [turn] : [] }, stream, {});
}

const answered = (): Promise<object> => Promise.resolve({ ...KEPT, responseId: "beef" });
const lost = (): Promise<object> => Promise.reject(LOST);

test("a question goes on from the answer before it", async () => {
  outcomes = [answered];
  expect(await ask(KEPT)).toEqual({ metadata: { ...KEPT, responseId: "beef" } });
  expect(sent).toMatchObject([{ conversationId: "c0ffee", parentId: "f00d" }]);
});

test.each([true, false])("an answer that is stopped is gone on from, once the server keeps it: %s", async (isKept) => {
  outcomes = [
    (options) => {
      options.onEvent?.({ type: "started", ...KEPT, provider: "ollama", model: "m" });
      if (isKept) options.onEvent?.({ type: "turn", number: 1 });
      return Promise.reject(new ServerError("Stopped.", "cancelled"));
    },
  ];
  expect(await ask()).toEqual(isKept ? { metadata: KEPT } : {});
});

test("an answer that failed says why, and is gone on from", async () => {
  outcomes = [
    (options) => {
      options.onEvent?.({ type: "started", ...KEPT, provider: "ollama", model: "m" });
      options.onEvent?.({ type: "turn", number: 1 });
      return Promise.reject(new ServerError("Nobody answers.", "connection", "Start it."));
    },
  ];
  expect(await ask()).toEqual({ metadata: KEPT, errorDetails: { message: "Nobody answers. Start it." } });
});

test("an answer that the server does not know does not cost the conversation", async () => {
  outcomes = [lost, answered];
  await ask(KEPT);
  expect(sent[1]).toMatchObject({ conversationId: "c0ffee" });
  expect(sent[1]).not.toHaveProperty("parentId");
  expect(progress).toEqual([]);
});

test("a conversation that the server does not have is begun anew, and that is told", async () => {
  outcomes = [lost, lost, answered];
  await ask(KEPT);
  expect(sent[2]).not.toHaveProperty("conversationId");
  expect(progress).toHaveLength(1);
});
