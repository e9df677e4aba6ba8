import { beforeEach, expect, test, vi } from "vitest";
import type * as api from "vscode";
import samples from "../../../../../docs/protocol-samples.json";
import { ChatController } from "../../../src/chat/controller";
import { apply, EMPTY, type Conversation } from "../../../src/chat/conversation";
import type { FromView } from "../../../src/chat/messages";
import type { ChatEvent, ChatSendResult } from "../../../src/protocol";
import { ServerError } from "../../../src/server";
import { until } from "../until";
import { FakeServer } from "./fakeServer";
import { StubView, stub, vscode } from "./vscodeStub";

vi.mock("vscode", async () => (await import("./vscodeStub")).vscode);

vi.setConfig({ testTimeout: 60_000 });

const RESULT = samples.results["ollm/chat/send"] as ChatSendResult;
const STARTED = samples.events[0] as ChatEvent;
const ABOUT = {
  uri: "file:///project/app.py",
  range: { start: { line: 2, character: 0 }, end: { line: 4, character: 0 } },
};

let fake: FakeServer;
let view: StubView;
let controller: ChatController;
let kept: Map<string, unknown>;

beforeEach(() => {
  Object.assign(stub, { answer: undefined, asked: [], opened: [], executed: [], arguments: [] });
  vscode.window.activeTextEditor = undefined;
  kept = new Map();
  fake = new FakeServer();
  const workspaceState = {
    get: (key: string, otherwise: unknown) => kept.get(key) ?? otherwise,
    update: (key: string, value: unknown) => Promise.resolve(kept.set(key, value)),
  };
  const context = { extensionUri: { path: "/extension" }, workspaceState } as unknown as api.ExtensionContext;
  controller = new ChatController(context, fake.server, () => Promise.reject(new Error("nobody is asked here")));
  view = opened();
});

function opened(conversationId = "", leaf = ""): StubView {
  const fresh = new StubView();
  stub.provider?.resolveWebviewView(fresh);
  fresh.say({ type: "ready", conversationId, leaf });
  return fresh;
}

/** The conversation as the view has it, from all that it was told. */
function shown(): { conversation: Conversation; isRunning: boolean } {
  let conversation = EMPTY;
  let isRunning = false;
  for (const message of view.told) {
    if (message.type === "conversation") ({ conversation, isRunning } = message);
    if (message.type === "changes") {
      conversation = message.changes.reduce(apply, conversation);
      isRunning = message.isRunning;
    }
  }
  return { conversation, isRunning };
}

function send(text: string, parent = "", more: Partial<Extract<FromView, { type: "send" }>> = {}): void {
  view.say({ type: "send", text, parent, again: "", isRelease: false, images: [], ...more });
}

async function answered(text: string, responseId: string, parent = ""): Promise<void> {
  send(text, parent);
  const call = await fake.next("ollm/chat/send");
  for (const event of [
    { ...STARTED, responseId } as ChatEvent,
    { type: "turn", number: 1 } as const,
    { type: "text", text: "Yes." } as const,
  ])
    call.options.onEvent?.(event);
  call.options.onEvent?.({ type: "finished", reason: "stop" });
  call.end({ ...RESULT, responseId });
  await until(() => !shown().isRunning);
}

test("a question is asked, its events are shown, and the next one follows it", async () => {
  await answered("First", "r1");
  expect(shown().conversation.responses).toMatchObject([{ id: "r1", finish: "stop", durationMs: RESULT.durationMs }]);
  send("Second", shown().conversation.leaf);
  const second = await fake.next("ollm/chat/send");
  expect(second.params).toMatchObject({ text: "Second", conversationId: "c0ffee", parentId: "r1" });
});

test("the first question of a conversation names neither a conversation nor a parent", async () => {
  send("First");
  expect((await fake.next("ollm/chat/send")).params).toEqual({ text: "First", context: {} });
});

test("an edited first question is a branch from the beginning", async () => {
  await answered("First", "r1");
  send("First, better", "");
  expect((await fake.next("ollm/chat/send")).params).toMatchObject({ conversationId: "c0ffee", parentId: "" });
});

test("stop cancels the request, and a failure is told in the conversation", async () => {
  send("Long");
  const long = await fake.next("ollm/chat/send");
  view.say({ type: "stop" });
  expect(long.options.token?.isCancellationRequested).toBe(true);
  long.fail(new ServerError("Cancelled.", "cancelled"));
  await until(() => !shown().isRunning);
  expect(shown().conversation.responses[0]).toMatchObject({ finish: "cancelled", parts: [] });
  send("Again");
  (await fake.next("ollm/chat/send")).fail(new ServerError("Nobody answers.", "connection", "Start Ollama."));
  await until(() => !shown().isRunning);
  expect(shown().conversation.responses[1]?.parts).toEqual([
    { type: "error", message: "Nobody answers.", remedy: "Start Ollama." },
  ]);
  expect(stub.asked).toEqual([]);
});

test("a release goes to the external providers, without a model", async () => {
  kept.set("ollm.chat.model", "ollama:small");
  send("Hard question", "", { isRelease: true });
  expect((await fake.next("ollm/kraken/release")).params).not.toHaveProperty("model");
});

test("the chosen model answers, and /model chooses one, too", async () => {
  view.say({ type: "model", model: "ollama:small" });
  await until(() =>
    view.told.some((message) => message.type === "surroundings" && message.surroundings.model === "ollama:small"),
  );
  send("/model ollama:large");
  const order = await fake.next("ollm/chat/send");
  expect(order.params).toMatchObject({ model: "ollama:small" });
  order.end(RESULT);
  await until(() => kept.get("ollm.chat.model") === "ollama:large");
});

test("a conversation with a model of its own shows it, where none is chosen for all", async () => {
  const model = (): string | undefined =>
    view.told.findLast((message) => message.type === "surroundings")?.surroundings.model;
  await answered("/model other:large", "r1");
  await until(() => kept.get("ollm.chat.model") === "other:large");
  view.say({ type: "model", model: "" });
  await until(() => kept.get("ollm.chat.model") === "");
  expect(model()).toBe("other:large");
  view.say({ type: "new" });
  await until(() => shown().conversation.responses.length === 0);
  expect(model()).toBe("ollama:default");
  view.say({ type: "open", conversationId: "beef" });
  (await fake.next("ollm/chat/get")).end({ ...samples.results["ollm/chat/get"], id: "beef", model: "other:small" });
  await until(() => shown().conversation.id === "beef");
  expect(model()).toBe("other:small");
});

test("a conversation that the server has lost is told in words, and the next question begins a new one", async () => {
  await answered("First", "r1");
  send("Second", shown().conversation.leaf);
  const lost = new ServerError("There is no conversation c0ffee.", "conversation_not_found", "Leave it out.");
  (await fake.next("ollm/chat/send")).fail(lost);
  await until(() => !shown().isRunning);
  expect(shown().conversation.responses[1]?.parts).toMatchObject([
    { type: "error", message: "The server does not have this conversation any more." },
  ]);
  send("Second", shown().conversation.responses[0]?.key);
  const again = await fake.next("ollm/chat/send");
  expect(again.params).not.toHaveProperty("conversationId");
  expect(again.params).not.toHaveProperty("parentId");
  again.options.onEvent?.({ ...STARTED, conversationId: "new" } as ChatEvent);
  again.end(RESULT);
  await until(() => !shown().isRunning);
  send("Another second", shown().conversation.responses[0]?.key);
  const third = await fake.next("ollm/chat/send");
  expect(third.params, "nothing of the lost one is named").toMatchObject({ conversationId: "new", parentId: "" });
});

test("a view that shows a lost conversation becomes empty, without an error", async () => {
  view = opened("gone");
  (await fake.next("ollm/chat/get")).fail(new ServerError("There is none.", "conversation_not_found"));
  await until(() => view.told.some(({ type }) => type === "conversation"));
  expect(shown().conversation).toEqual(EMPTY);
  expect(stub.asked).toEqual([]);
});

test("a conversation goes on answering while another one is shown", async () => {
  send("Long");
  const long = await fake.next("ollm/chat/send");
  long.options.onEvent?.(STARTED);
  await until(() => shown().conversation.id === "c0ffee");
  view.say({ type: "new" });
  await until(() => shown().conversation.responses.length === 0);
  long.options.onEvent?.({ type: "text", text: "Still here." });
  view.say({ type: "open", conversationId: "c0ffee" });
  await until(() => shown().isRunning);
  expect(shown().conversation.responses[0]?.parts).toEqual([{ type: "text", text: "Still here." }]);
  long.end(RESULT);
  await until(() => !shown().isRunning);
});

test("a view that was closed shows what came meanwhile, and nothing twice", async () => {
  send("Long");
  const long = await fake.next("ollm/chat/send");
  long.options.onEvent?.(STARTED);
  view.close();
  const before = view.told.length;
  long.options.onEvent?.({ type: "text", text: "Hidden." });
  view = opened();
  long.options.onEvent?.({ type: "text", text: " Seen." });
  await until(
    () => shown().conversation.responses[0]?.parts.length === 1 && view.told.some(({ type }) => type === "changes"),
  );
  expect(shown().conversation.responses[0]?.parts).toEqual([{ type: "text", text: "Hidden. Seen." }]);
  expect(before).toBeGreaterThan(0);
  long.end(RESULT);
});

test("after a reload of the window the conversation is loaded, on the branch that was shown", async () => {
  view = opened("c0ffee", "beef");
  const get = await fake.next("ollm/chat/get");
  expect(get.params).toEqual({ conversationId: "c0ffee" });
  get.end(samples.results["ollm/chat/get"]);
  await until(() => shown().conversation.id === "c0ffee");
  expect(shown().conversation.leaf).toBe("beef");
});

test("an answer to what was asked elsewhere streams into a conversation of its own", async () => {
  await answered("First", "r1");
  const done = controller.stream("Explain app.py", {}, (options) => {
    options.onEvent?.({ ...STARTED, conversationId: "other" } as ChatEvent);
    return Promise.resolve(RESULT);
  });
  expect(await done).toBe(RESULT);
  await until(() => shown().conversation.id === "other");
  expect(shown().conversation.responses).toMatchObject([{ question: "Explain app.py" }]);
  expect(stub.executed).toContain("ollm.chat.focus");
});

test("a conversation is deleted only after a yes", async () => {
  view.say({ type: "delete", conversationId: "c0ffee", title: "Sums" });
  await until(() => stub.asked.length === 1);
  expect(fake.calls).toEqual([]);
  stub.answer = "Delete";
  view.say({ type: "delete", conversationId: "c0ffee", title: "Sums" });
  (await fake.next("ollm/chat/delete")).end(null);
  await fake.next("ollm/chat/list");
});

test("a link is opened only after a yes, which shows the whole address", async () => {
  const href = "https://example.org/very/long?with=query";
  view.say({ type: "link", href });
  await until(() => stub.asked.length === 1);
  expect(stub.asked[0]).toContain(href);
  expect(stub.opened).toEqual([]);
  stub.answer = "Open";
  view.say({ type: "link", href });
  await until(() => stub.opened.length === 1);
  expect(stub.opened).toEqual([href]);
});

test.each(["javascript:alert(1)", "command:workbench.action.quit", "vscode://settings", "../../etc/passwd"])(
  "the link %s opens nothing",
  async (href) => {
    stub.answer = "Open";
    view.say({ type: "link", href });
    await until(() => stub.asked.length === 1);
    expect(stub.asked[0]).toContain("is not a file of this workspace");
    expect([stub.opened, stub.executed]).toEqual([[], []]);
  },
);

test("a request that fails outside a conversation is told to the user", async () => {
  view.say({ type: "list" });
  (await fake.next("ollm/chat/list")).fail(new ServerError("The store is broken.", "store", "Free the disk."));
  await until(() => stub.asked.length === 1);
  expect(stub.asked).toEqual(["The store is broken. Free the disk."]);
});

test("after /compact the conversation is shown as the server keeps it", async () => {
  await answered("First", "r1");
  send("/compact", shown().conversation.leaf);
  const compact = await fake.next("ollm/chat/send");
  compact.options.onEvent?.(STARTED);
  compact.end(RESULT);
  (await fake.next("ollm/chat/get")).end(samples.results["ollm/chat/get"]);
  await until(() => shown().conversation.leaf === "cafe");
});

test("a new chat that was begun while the view was closed is what the view shows, not what it remembers", async () => {
  await answered("First", "r1");
  view.close();
  await controller.startNew();
  view = opened("c0ffee", "r1");
  send("Second");
  const second = await fake.next("ollm/chat/send");
  expect(second.params).toEqual({ text: "Second", context: {} });
  await until(() => shown().conversation.responses.length > 0);
  expect(shown().conversation.responses).toMatchObject([{ question: "Second" }]);
  expect(fake.calls).toEqual([]);
  second.end(RESULT);
});

test("a question is not replaced by a conversation that comes late", async () => {
  view = opened("c0ffee", "beef");
  const get = await fake.next("ollm/chat/get");
  send("Meanwhile");
  const asked = await fake.next("ollm/chat/send");
  get.end(samples.results["ollm/chat/get"]);
  asked.options.onEvent?.({ ...STARTED, conversationId: "mine" } as ChatEvent);
  asked.end(RESULT);
  await until(() => shown().conversation.responses[0]?.finish);
  expect(shown().conversation).toMatchObject({ id: "mine", responses: [{ question: "Meanwhile" }] });
});

test("of two conversations that are opened in haste the last one is shown", async () => {
  view.say({ type: "open", conversationId: "slow" });
  view.say({ type: "open", conversationId: "c0ffee" });
  const [slow, quick] = [await fake.next("ollm/chat/get"), await fake.next("ollm/chat/get")];
  quick.end(samples.results["ollm/chat/get"]);
  await until(() => shown().conversation.id === "c0ffee");
  slow.end({ ...samples.results["ollm/chat/get"], id: "slow" });
  await new Promise((resolve) => setTimeout(resolve));
  expect(shown().conversation.id).toBe("c0ffee");
});

test("a question that was sent before the view had heard of the new chat begins it", async () => {
  await answered("First", "r1");
  const leaf = shown().conversation.leaf;
  view.say({ type: "new" });
  send("Second", leaf);
  const second = await fake.next("ollm/chat/send");
  expect(second.params).toEqual({ text: "Second", context: {} });
  await until(() => shown().conversation.responses.length === 1);
  expect(shown().conversation.responses).toMatchObject([{ question: "Second", parent: "" }]);
  second.end(RESULT);
});

test("a question that comes while another one is answered goes back into the field", async () => {
  send("First");
  send("Second");
  const first = await fake.next("ollm/chat/send");
  expect(view.told).toContainEqual({ type: "show", what: "composer", text: "Second" });
  expect(fake.calls).toEqual([]);
  first.end(RESULT);
});

test("what was asked elsewhere keeps its conversation when a new chat is begun at once", async () => {
  let end: (result: ChatSendResult) => void = () => undefined;
  const done = controller.stream("Explain app.py", {}, (options) => {
    options.onEvent?.({ ...STARTED, conversationId: "other" } as ChatEvent);
    return new Promise((resolve) => (end = resolve));
  });
  view.say({ type: "new" });
  send("Mine");
  const mine = await fake.next("ollm/chat/send");
  await until(() => shown().conversation.responses.length === 1);
  expect(shown().conversation.responses).toMatchObject([{ question: "Mine" }]);
  end(RESULT);
  expect(await done).toBe(RESULT);
  mine.end(RESULT);
});

test("questions of different conversations have different keys", async () => {
  await answered("First", "r1");
  const before = shown().conversation.leaf;
  view.say({ type: "new" });
  await answered("Second", "r2");
  expect(shown().conversation.leaf).not.toBe(before);
});

const PICTURE = { mimeType: "image/png", data: "iVA=" };

function place(uri: string): unknown {
  const address = { scheme: "file", path: uri.slice("file://".length), toString: () => uri };
  const selection = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 }, isEmpty: true };
  return { document: { uri: address }, selection };
}

function file(uri: string): api.Uri {
  return { path: uri.slice("file://".length), toString: () => uri } as api.Uri;
}

test("what is sent is shown while an answer runs, and stays attached", async () => {
  await controller.attachFiles([file("file:///project/a.py")]);
  view.say({ type: "context", text: "Why?", parent: "", again: "", images: [PICTURE] });
  await until(() => stub.executed.includes("ollm.context.show"));
  const context = { files: ["file:///project/a.py"], images: [PICTURE] };
  expect(stub.arguments).toEqual([{ ...context, text: "Why?" }]);
  expect(fake.calls).toEqual([]);
  send("Why?");
  expect((await fake.next("ollm/chat/send")).params).toMatchObject({ context: { files: ["file:///project/a.py"] } });
  view.say({ type: "context", text: "And then?", parent: "", again: "", images: [] });
  await until(() => stub.arguments.length === 2);
  expect(stub.arguments[1]).toEqual({ text: "And then?" });
});

test("a question that is asked again has the context that it had, and uses up nothing", async () => {
  vscode.window.activeTextEditor = place("file:///project/a.py");
  send("Why?", "", { images: [PICTURE] });
  const first = await fake.next("ollm/chat/send");
  first.options.onEvent?.(STARTED);
  first.end(RESULT);
  await until(() => shown().conversation.responses[0]?.finish);
  const asked = shown().conversation.responses[0];
  expect(asked).toMatchObject({ attached: ["a.py", "Picture 1"], isContextKept: true });
  vscode.window.activeTextEditor = place("file:///project/b.py");
  await controller.attachFiles([file("file:///project/c.py")]);
  send("Why not?", "", { again: asked?.key ?? "" });
  const second = await fake.next("ollm/chat/send");
  expect(second.params["context"]).toEqual(first.params["context"]);
  second.end(RESULT);
  await until(() => shown().conversation.responses[1]?.finish);
  expect(shown().conversation.responses[1]?.attached).toEqual(asked?.attached);
  send("Next");
  expect((await fake.next("ollm/chat/send")).params).toMatchObject({
    context: { uri: "file:///project/b.py", files: ["file:///project/c.py"] },
  });
});

test("a kept question that is asked again takes what is attached now", async () => {
  view = opened("c0ffee", "f00d");
  (await fake.next("ollm/chat/get")).end(samples.results["ollm/chat/get"]);
  await until(() => shown().conversation.id === "c0ffee");
  vscode.window.activeTextEditor = place("file:///project/b.py");
  send("Again", "", { again: "f00d" });
  expect((await fake.next("ollm/chat/send")).params).toMatchObject({ context: { uri: "file:///project/b.py" } });
});

test("an answer to what was asked elsewhere comes again from there, and not from its title", async () => {
  const run = vi.fn(() => Promise.resolve(RESULT));
  await controller.stream("Explain app.py", ABOUT, run);
  await until(() => shown().conversation.responses[0]?.finish);
  send("Explain app.py", "", { again: shown().conversation.leaf });
  await until(() => run.mock.calls.length === 2);
  await until(() => !shown().isRunning);
  expect(shown().conversation.responses).toMatchObject([{ question: "Explain app.py", attached: ["app.py:3–5"] }]);
  vscode.window.activeTextEditor = place("file:///project/elsewhere.py");
  send("Explain it better", "", { again: shown().conversation.leaf });
  const better = await fake.next("ollm/chat/send");
  expect(better.params).toMatchObject({ text: "Explain it better", context: ABOUT });
  better.end(RESULT);
});

test("a release of what was asked elsewhere is about the same place", async () => {
  await controller.stream("Explain app.py", ABOUT, () => Promise.resolve(RESULT));
  await until(() => shown().conversation.responses[0]?.finish);
  vscode.window.activeTextEditor = place("file:///project/elsewhere.py");
  send("Explain app.py", "", { again: shown().conversation.leaf, isRelease: true });
  expect((await fake.next("ollm/kraken/release")).params).toMatchObject({ text: "Explain app.py", context: ABOUT });
});
