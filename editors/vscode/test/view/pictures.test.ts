/** A picture goes with the question that it was pasted for, however long it takes to read. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { apply, EMPTY } from "../../src/chat/conversation";
import type { ToView } from "../../src/chat/messages";
import { ChatPage, launched } from "./chatPage";
import { exchange } from "./samples";

/** Of a screenshot of a large screen. */
const SIZE = 6_000_000;

const browser = launched();
let chat: ChatPage;
beforeEach(async () => {
  chat = await ChatPage.open(browser());
  await chat.show(EMPTY);
  await chat.page.getByLabel("Message").fill("What is this?");
});
afterEach(async () => {
  expect(chat.complaints).toEqual([]);
  await chat.close();
});

type Step = { key: string } | { typed: string } | { told: ToView };

/** Paste a picture and do this before the browser can have read any of it; how many pictures are shown then. */
const pasteAnd = (...steps: readonly Step[]): Promise<number> =>
  chat.page.getByLabel("Message").evaluate(
    (field: HTMLTextAreaElement, [size, all]) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(size)], "image.png", { type: "image/png" }));
      field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
      for (const step of all)
        if ("key" in step) field.dispatchEvent(new KeyboardEvent("keydown", { ...step, bubbles: true }));
        else if ("told" in step) window.dispatchEvent(new MessageEvent("message", { data: step.told }));
        else {
          field.value += step.typed;
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }
      // What would be sent is told when the picture is read.
      document.querySelector<HTMLElement>(".meter")?.click();
      return document.querySelectorAll(".chip[title='Attached picture']").length;
    },
    [SIZE, steps] as const,
  );

/** Questions that were sent, with the sizes of their pictures; there is at least one. */
const sent = async (): Promise<readonly (readonly [string, ...number[]])[]> => {
  await expect.poll(async () => (await chat.told("send")).length).toBeGreaterThan(0);
  await chat.settle();
  return (await chat.told("send")).map(({ text, images }) => [text, ...images.map(({ data }) => atob(data).length)]);
};

const ENTER = { key: "Enter" };

test("what is pasted before Enter goes with this question, once, and not with the next one", async () => {
  expect(await pasteAnd(ENTER, ENTER)).toBe(1);
  expect(await sent()).toEqual([["What is this?", SIZE]]);
  expect(await chat.page.getByLabel("Message").inputValue()).toBe("");
  expect(await chat.page.getByText("Picture 1").count()).toBe(0);
  await chat.page.getByLabel("Message").fill("And now?");
  await chat.page.keyboard.press("Enter");
  expect(await sent()).toEqual([["What is this?", SIZE], ["And now?"]]);
});

test("what is typed while a picture is read is not lost", async () => {
  await pasteAnd(ENTER, { typed: " And why?" });
  expect(await sent()).toEqual([["What is this? And why?", SIZE]]);
});

test("a question does not leave for another conversation that is shown meanwhile", async () => {
  const conversation = exchange("a", "", "First", "f00d", [{ type: "finished", reason: "stop" }]).reduce(apply, EMPTY);
  await pasteAnd(ENTER, { told: { type: "conversation", conversation, isRunning: false } });
  await expect.poll(() => chat.told("context")).toHaveLength(1);
  expect(await chat.told("send")).toEqual([]);
  expect(await chat.page.getByLabel("Message").inputValue()).toBe("What is this?");
  expect(await chat.page.getByText("Picture 1").isVisible()).toBe(true);
});

test("one sees what would be sent, with a picture that was still read when one asked for it", async () => {
  await pasteAnd();
  await expect.poll(() => chat.told("context")).toHaveLength(1);
  expect((await chat.told("context"))[0]?.images).toHaveLength(1);
});

test("a picture that cannot be read is told, and its question stays until one sends it without", async () => {
  await chat.page.evaluate(() => {
    FileReader.prototype.readAsDataURL = function () {
      setTimeout(() => this.dispatchEvent(new ProgressEvent("error")));
    };
  });
  await pasteAnd(ENTER);
  const words = "image.png could not be read. Paste or drop it again.";
  const line = chat.page.locator(".composer").getByText(words);
  await line.waitFor();
  expect(await chat.page.locator(".said").textContent()).toBe(words);
  expect(await chat.page.getByText("Picture 1").count()).toBe(0);
  expect(await chat.told("send")).toEqual([]);
  expect(await chat.page.getByLabel("Message").inputValue()).toBe("What is this?");
  await chat.page.keyboard.press("Enter");
  expect(await sent()).toEqual([["What is this?"]]);
  expect(await line.isVisible()).toBe(false);
});
