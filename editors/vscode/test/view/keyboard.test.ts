/** All can be done without a mouse. */
import { afterEach, beforeEach, expect, test } from "vitest";
import samples from "../../../../docs/protocol-samples.json";
import { apply, EMPTY } from "../../src/chat/conversation";
import type { ConversationSummary, ModelsList } from "../../src/protocol";
import { ChatPage, launched, SURROUNDINGS } from "./chatPage";
import { everything, exchange, MARKDOWN } from "./samples";

const browser = launched();
let chat: ChatPage;
beforeEach(async () => {
  chat = await ChatPage.open(browser());
});
afterEach(async () => {
  expect(chat.complaints).toEqual([]);
  await chat.close();
});

const press = (key: string): Promise<void> => chat.page.keyboard.press(key);
const type = (text: string): Promise<void> => chat.page.keyboard.type(text);
const field = (): Promise<string> => chat.page.getByLabel("Message").inputValue();
const focused = (): Promise<string> =>
  chat.page.evaluate(
    () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "",
  );

/** Paste a picture, perhaps with a text; whether the browser may paste as it always does. */
const pastePicture = (text = ""): Promise<boolean> =>
  chat.page.getByLabel("Message").evaluate((element, words) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array([0x89, 0x50])], "a.png", { type: "image/png" }));
    data.items.add(new File(["no picture"], "a.txt", { type: "text/plain" }));
    if (words) data.setData("text/plain", words);
    return element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);

/** One answer that has ended. */
const ended = exchange("a", "", "First question", "f00d", [
  { type: "text", text: MARKDOWN },
  { type: "finished", reason: "stop" },
]).reduce(apply, EMPTY);

test("Enter sends, Shift+Enter begins a new line, and the field is empty again", async () => {
  await chat.show(EMPTY);
  await chat.page.getByLabel("Message").focus();
  await type("one");
  await press("Shift+Enter");
  await type("two");
  await press("Enter");
  expect(await chat.told("send")).toEqual([
    { type: "send", text: "one\ntwo", parent: "", again: "", isRelease: false, images: [] },
  ]);
  expect(await field()).toBe("");
});

test("while an answer runs Enter sends nothing, the draft stays, and Escape stops", async () => {
  await chat.show(everything(), true);
  await chat.page.getByLabel("Message").focus();
  await type("next");
  await press("Enter");
  expect(await chat.page.getByText("Wait for the answer").first().isVisible()).toBe(true);
  expect(await chat.page.locator(".said").textContent()).toContain("stop it with Escape");
  await press("Escape");
  expect(await chat.told("send")).toEqual([]);
  expect(await chat.told("stop")).toHaveLength(1);
  expect(await field()).toBe("next");
});

test("Up in the empty field edits the last question, which becomes a branch; Escape leaves it", async () => {
  await chat.show(ended);
  await chat.page.getByLabel("Message").focus();
  await press("ArrowUp");
  expect(await field()).toBe("First question");
  await press("Escape");
  expect(await field()).toBe("");
  await press("ArrowUp");
  await type(", again");
  await press("Enter");
  expect(await chat.told("send")).toMatchObject([{ text: "First question, again", parent: "", again: "a" }]);
  await type("Next");
  await press("Enter");
  expect(await chat.told("send")).toMatchObject([{}, { text: "Next", parent: "a" }]);
});

test("a question is not edited any more when another conversation is shown, but what was written stays", async () => {
  const editing = chat.page.locator(".editing");
  await chat.show(ended);
  await chat.page.getByLabel("Message").focus();
  await press("ArrowUp");
  await chat.show(EMPTY);
  expect([await field(), await editing.isVisible()]).toEqual(["", false]);
  await chat.show(ended);
  await chat.page.getByLabel("Message").focus();
  await press("ArrowUp");
  await type(", again");
  await chat.show(EMPTY);
  expect([await field(), await editing.isVisible()]).toEqual(["First question, again", false]);
  await press("Enter");
  expect(await chat.told("send")).toMatchObject([{ text: "First question, again", parent: "" }]);
});

test("orders and mentions are completed with the arrow keys", async () => {
  await chat.show(EMPTY);
  await chat.page.getByLabel("Message").focus();
  await type("/f");
  expect((await chat.told("suggest")).map((told) => told.for)).toEqual(["/", "/f"]);
  const suggestions = [
    { insert: "/fix ", label: "/fix", detail: "" },
    { insert: "/foo ", label: "/foo", detail: "" },
  ];
  await chat.tell({ type: "suggestions", for: "/f", suggestions });
  await chat.page.getByRole("option", { name: "/fix" }).waitFor();
  await press("ArrowDown");
  expect(await chat.page.getByRole("option", { selected: true }).textContent()).toBe("/foo");
  await press("ArrowUp");
  await press("Tab");
  expect(await field()).toBe("/fix ");
  expect(await chat.page.getByRole("option").count()).toBe(0);
  await type("it");
  await press("Enter");
  expect(await chat.told("send")).toMatchObject([{ text: "/fix it" }]);
});

test("suggestions for a word that was changed meanwhile are not shown", async () => {
  await chat.show(EMPTY);
  await chat.page.getByLabel("Message").focus();
  await type("/fi");
  await chat.tell({ type: "suggestions", for: "/f", suggestions: [{ insert: "/foo ", label: "/foo", detail: "" }] });
  await chat.settle();
  expect(await chat.page.getByRole("option").count()).toBe(0);
});

test("Tab walks through everything, from the title to the send button", async () => {
  await chat.show(ended);
  await chat.page.locator(".title").focus();
  const seen: string[] = [];
  for (let step = 0; step < 40; step += 1) {
    seen.push(await focused());
    if (
      seen.at(-1) === "Stop" ||
      seen.at(-1) === "Send" ||
      (await chat.page.evaluate(() => document.activeElement === document.body))
    )
      break;
    await press("Tab");
  }
  const expected = [
    "New chat",
    "Conversation",
    "Edit and send again",
    "Apply to the document",
    "Insert at the cursor",
    "Copy",
    "str.join",
    "Copy the answer",
    "Ask again",
    "Message",
    "Attach a file",
  ];
  expect(seen.filter((label) => expected.includes(label))).toEqual(expected.filter((label) => seen.includes(label)));
  expect(seen).toEqual(expect.arrayContaining(expected));
});

test("conversations are searched, renamed, deleted and opened", async () => {
  const { conversations } = samples.results["ollm/chat/list"];
  const [first] = conversations as [ConversationSummary];
  await chat.show(ended);
  await chat.page.locator(".title").focus();
  await press("Enter");
  await chat.tell({ type: "conversations", conversations: [first, { ...first, id: "beef", title: "Another one" }] });
  await chat.page.locator(".row").nth(1).waitFor();
  await type("another");
  expect(await chat.page.locator(".row").count()).toBe(1);
  await press("ArrowDown");
  await press("F2");
  await press("Control+a");
  await type("Renamed");
  await press("Enter");
  expect(await chat.told("rename")).toEqual([{ type: "rename", conversationId: "beef", title: "Renamed" }]);
  await chat.page.getByLabel("Search in conversations").fill("");
  await chat.page.getByLabel("Search in conversations").focus();
  await press("ArrowDown");
  await press("ArrowDown");
  await press("Delete");
  expect(await chat.told("delete")).toMatchObject([{ conversationId: "beef", title: "Renamed" }]);
  await press("ArrowUp");
  await press("Enter");
  expect(await chat.told("open")).toEqual([{ type: "open", conversationId: "c0ffee" }]);
  expect(await focused()).toBe("Message");
});

test("a model is chosen with the keyboard alone", async () => {
  const known = samples.results["ollm/models/list"] as ModelsList;
  const [first] = known.models;
  if (!first) throw new Error("no sample");
  await chat.show(ended);
  await chat.page.getByRole("button", { name: /^Model:/ }).focus();
  await press("Enter");
  await chat.tell({
    type: "models",
    models: [first, { ...first, id: "ollama:small", name: "small" }],
    errors: known.errors,
  });
  await chat.page.getByText("Cannot reach").waitFor();
  await type("small");
  await press("Enter");
  expect(await chat.told("model")).toEqual([{ type: "model", model: "ollama:small" }]);
  expect(await focused()).toBe("Message");
});

test("code is copied, inserted and applied; the answer is copied and asked for again", async () => {
  await chat.show(ended);
  for (const name of ["Apply to the document", "Insert at the cursor", "Copy the answer", "Ask again"]) {
    await chat.page.getByRole("button", { name, exact: true }).focus();
    await press("Enter");
  }
  const [applied, inserted] = await chat.told("code");
  expect(applied).toMatchObject({ action: "apply", info: "python" });
  expect(applied?.code).toContain("def greet(names: list[str]) -> str:\n");
  expect(inserted?.action).toBe("insert");
  expect(await chat.told("copy")).toEqual([{ type: "copy", text: MARKDOWN }]);
  expect(await chat.told("send")).toMatchObject([{ text: "First question", parent: "" }]);
});

test("one walks between the versions of a question", async () => {
  await chat.show({ ...everything(), leaf: "c" });
  await chat.page.getByRole("button", { name: "Earlier version" }).focus();
  await press("Enter");
  expect(await chat.told("choose")).toEqual([{ type: "choose", leaf: "b" }]);
  await chat.tell({ type: "changes", changes: [{ type: "chosen", leaf: "b" }], isRunning: false });
  await chat.page.getByText("1/2").waitFor();
  expect(await focused()).toBe("Later version");
  expect(await chat.page.getByRole("alert").textContent()).toContain("Start Ollama.");
});

test("what is sent along can be left out", async () => {
  const files = [{ uri: "file:///project/other.py", name: "other.py" }];
  await chat.show(EMPTY);
  await chat.tell({ type: "surroundings", surroundings: { ...SURROUNDINGS, files } });
  await chat.page.getByRole("button", { name: "Detach other.py" }).focus();
  await press("Enter");
  await chat.page.getByRole("button", { name: "Do not send greeting.py:4–9" }).focus();
  await press("Enter");
  expect(await chat.told("detach")).toEqual([{ type: "detach", uri: "file:///project/other.py" }]);
  expect(await chat.told("sendPlace")).toEqual([{ type: "sendPlace", isSent: false }]);
  await chat.tell({ type: "surroundings", surroundings: { ...SURROUNDINGS, files, isPlaceSent: false } });
  await chat.page.locator(".chip.off").waitFor();
  expect(await focused()).toBe("Send greeting.py:4–9");
  await chat.page.getByRole("button", { name: "Detach other.py" }).focus();
  await chat.tell({ type: "surroundings", surroundings: { ...SURROUNDINGS, isPlaceSent: false } });
  await chat.page.getByText("other.py").waitFor({ state: "detached" });
  expect(await focused()).toBe("Message");
});

test("a cursor that moves changes nothing that is shown, and takes the focus from nobody", async () => {
  await chat.show(EMPTY);
  await chat.tell({ type: "surroundings", surroundings: { ...SURROUNDINGS, server: "missing" } });
  await chat.page.getByRole("button", { name: "Install" }).focus();
  const before = await chat.page.locator(".chip, .server-line > *").elementHandles();
  await chat.tell({ type: "surroundings", surroundings: { ...SURROUNDINGS, server: "missing" } });
  await chat.settle();
  expect(await Promise.all(before.map((one) => one.evaluate((element) => element.isConnected)))).toEqual([
    true,
    true,
    true,
  ]);
  expect(await focused()).toBe("Install");
});

test("the field has the focus when the view gets it, and nothing else has", async () => {
  expect(await focused()).toBe("Message");
  await chat.show(ended);
  const gain = (): Promise<unknown> => chat.page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await chat.page.locator(".title").focus();
  await gain();
  expect(await focused()).toContain("Show all conversations");
  await chat.page.evaluate(() => {
    (document.activeElement as HTMLElement).blur();
  });
  await gain();
  expect(await focused()).toBe("Message");
});

test("one sees what would be sent, and loses nothing of it", async () => {
  await chat.show(everything(), true);
  await chat.page.getByLabel("Message").focus();
  await type("next");
  await chat.page.getByRole("button", { name: "Show what is sent" }).focus();
  await press("Enter");
  expect(await chat.told("context")).toEqual([{ type: "context", text: "next", parent: "c", again: "", images: [] }]);
  expect(await chat.told("send")).toEqual([]);
  expect(await field()).toBe("next");
});

test("with a question that is edited goes what went with it before, and what is attached now waits", async () => {
  const kept = ended.responses.map((response) => ({ ...response, isContextKept: true }));
  await chat.show({ ...ended, responses: kept });
  await pastePicture();
  await chat.page.getByText("Picture 1").waitFor();
  await chat.page.getByLabel("Message").focus();
  await press("ArrowUp");
  expect(await chat.page.locator(".editing").textContent()).toContain("greeting.py:4–9");
  expect(await chat.page.getByText("Picture 1").isVisible()).toBe(false);
  await press("Enter");
  expect(await chat.page.getByText("Picture 1").isVisible()).toBe(true);
  expect(await chat.told("send")).toMatchObject([{ text: "First question", again: "a", images: [] }]);
});

test("a paste of text with a picture of it is the text", async () => {
  await chat.show(EMPTY);
  const isLeft = await pastePicture("1\t2");
  await chat.settle();
  expect([isLeft, await chat.page.getByText("Picture 1").count()]).toEqual([true, 0]);
});

test("a conversation that the host has not loaded yet is not forgotten", async () => {
  const saved = { conversationId: "c0ffee", leaf: "a", draft: "half" };
  const again = await ChatPage.open(browser(), { saved });
  await again.tell({ type: "surroundings", surroundings: SURROUNDINGS });
  await again.page.getByLabel("Message").fill("half a thought");
  expect(await again.saved()).toEqual({ ...saved, draft: "half a thought" });
  await again.show(EMPTY);
  expect(await again.saved()).toEqual({ conversationId: "", leaf: "", draft: "half a thought" });
  await again.close();
});

test("a picture that is pasted goes with one question", async () => {
  await chat.show(EMPTY);
  await pastePicture();
  await chat.page.getByText("Picture 1").waitFor();
  await chat.page.getByLabel("Message").focus();
  await type("What is this?");
  await press("Enter");
  await type("And now?");
  await press("Enter");
  const images = (await chat.told("send")).map((sent) => sent.images);
  expect(images).toEqual([[{ mimeType: "image/png", data: "iVA=" }], []]);
});

test("a permission is reviewed, and a server that is missing is installed, from the view", async () => {
  await chat.show(everything(), true);
  await chat.tell({ type: "surroundings", surroundings: { ...SURROUNDINGS, server: "missing" } });
  for (const name of ["Review", "Install"]) {
    await chat.page.getByRole("button", { name }).focus();
    await press("Enter");
  }
  expect(await chat.told("review")).toHaveLength(1);
  expect(await chat.told("server")).toEqual([{ type: "server", action: "install" }]);
});

test("the draft and the conversation outlive a reload of the view", async () => {
  await chat.show(ended);
  await chat.page.getByLabel("Message").focus();
  await type("half a thought");
  const saved = await chat.saved();
  expect(saved).toEqual({ conversationId: "c0ffee", leaf: "a", draft: "half a thought" });
  const again = await ChatPage.open(browser(), { saved });
  expect(await again.told("ready")).toEqual([{ type: "ready", conversationId: "c0ffee", leaf: "a" }]);
  expect(await again.page.getByLabel("Message").inputValue()).toBe("half a thought");
  await again.close();
});
