/** A long answer streams without stopping the browser for longer than one notices. */
import { expect, test } from "vitest";
import type { Change } from "../../src/chat/conversation";
import { EMPTY } from "../../src/chat/conversation";
import { LONG, Trace } from "../browser/trace";
import { ChatPage, launched } from "./chatPage";
import { exchange, MARKDOWN } from "./samples";

const browser = launched();

/** An answer of about so many tokens, at four characters each. */
function answer(tokens: number, section: (number: number) => string): readonly string[] {
  let text = "";
  for (let number = 1; text.length < tokens * 4; number += 1) text += section(number);
  return text.match(/[^]{1,4}/g) ?? [];
}

interface Measured {
  /** As the page itself sees them: they grow when the machine is busy with something else. */
  readonly longTasks: readonly number[];
  /** The processor time of every task of the page's main thread. */
  readonly work: readonly number[];
  readonly elapsed: number;
  readonly frames: number;
}

/** Stream as a fast model does: so many tokens a second, each as a delta, told every 16 ms. */
async function stream(chat: ChatPage, tokens: readonly string[], perSecond: number): Promise<Measured> {
  const [asked, started, turn] = exchange("a", "", "Tell me everything", "f00d", []) as [Change, Change, Change];
  await chat.show(EMPTY);
  await chat.tell({ type: "changes", changes: [asked, started, turn], isRunning: true });
  const trace = await Trace.start(chat.page);
  const result = await chat.page.evaluate(
    async ({ deltas, rate }) => {
      const longTasks: number[] = [];
      const observer = new PerformanceObserver((list) => {
        longTasks.push(...list.getEntries().map((entry) => entry.duration));
      });
      observer.observe({ entryTypes: ["longtask"] });
      let frames = 0;
      let isOver = false;
      const count = (): void => {
        frames += 1;
        if (!isOver) requestAnimationFrame(count);
      };
      requestAnimationFrame(count);
      const began = performance.now();
      for (let sent = 0; sent < deltas.length;) {
        const due = Math.min(Math.ceil(((performance.now() - began) / 1000) * rate), deltas.length);
        const changes = deltas.slice(sent, due).map((text) => ({ type: "event", event: { type: "text", text } }));
        sent = Math.max(sent, due);
        if (changes.length > 0) window.postMessage({ type: "changes", changes, isRunning: true }, "*");
        await new Promise((resolve) => setTimeout(resolve, 16));
      }
      const elapsed = performance.now() - began;
      const end = { type: "event", event: { type: "finished", reason: "stop" } };
      window.postMessage({ type: "changes", changes: [end], isRunning: false }, "*");
      await new Promise((resolve) => setTimeout(resolve, 500));
      isOver = true;
      longTasks.push(...observer.takeRecords().map((entry) => entry.duration));
      return { longTasks, elapsed, frames };
    },
    { deltas: tokens as string[], rate: perSecond },
  );
  return { ...result, work: await trace.stop() };
}

const KINDS: readonly (readonly [string, (number: number) => string])[] = [
  ["mixed Markdown", (number) => `## Section ${number}\n\n${MARKDOWN}\n`],
  [
    "one block of code",
    (number) => (number === 1 ? "```python\n" : `def function_${number}(a, b):\n    return a * ${number} + b\n\n`),
  ],
  [
    "one list",
    (number) => `- Item ${number} has **bold** words and \`code\`, and a [link](https://example.org/${number}).\n`,
  ],
];

test.each(KINDS)("20,000 tokens of %s leave the browser free", async (kind, section) => {
  const chat = await ChatPage.open(browser());
  const tokens = answer(20_000, section);
  const { longTasks, work, elapsed, frames } = await stream(chat, tokens, 5_000);
  const long = work.filter((time) => time > LONG);
  const most = (times: readonly number[]): string => `${Math.round(Math.max(0, ...times))} ms`;
  console.log(
    `measured: the view alone, ${kind}: ${tokens.length} tokens in ${(elapsed / 1000).toFixed(1)} s, ${frames} frames. ` +
      `By the clock ${longTasks.length} long tasks, the longest ${most(longTasks)}. ` +
      `By processor time ${long.length} long tasks, the longest ${most(work)}.`,
  );
  expect(work.length).toBeGreaterThan(50);
  expect(sum(long) / elapsed).toBeLessThan(0.1);
  expect((await chat.page.locator(".markdown").textContent())?.length).toBeGreaterThan(40_000);
  expect(chat.complaints).toEqual([]);
  await chat.close();
});

function sum(times: readonly number[]): number {
  return times.reduce((total, time) => total + time, 0);
}

test("the end is followed while one is there, and left alone when one reads above", async () => {
  const chat = await ChatPage.open(browser());
  const place = (): Promise<{ top: number; gap: number }> =>
    chat.page
      .locator(".log")
      .evaluate((log) => ({ top: log.scrollTop, gap: log.scrollHeight - log.clientHeight - log.scrollTop }));
  await stream(
    chat,
    answer(1_500, (number) => `Paragraph ${number}.\n\n`),
    5_000,
  );
  expect((await place()).gap).toBeLessThan(4);
  await chat.page.locator(".log").evaluate((log) => (log.scrollTop = 100));
  await chat.page.locator(".to-end").waitFor();
  await chat.tell({
    type: "changes",
    changes: exchange("a", "", "More", "f00d", [{ type: "text", text: MARKDOWN }]).slice(3),
    isRunning: true,
  });
  await chat.settle();
  expect((await place()).top).toBe(100);
  await chat.page.locator(".to-end").click();
  await chat.settle();
  expect((await place()).gap).toBeLessThan(4);
  await chat.close();
});

test("a conversation with 200 answers is shown at its end at once, and in full a little later", async () => {
  const chat = await ChatPage.open(browser());
  const changes = Array.from({ length: 200 }, (_, index) =>
    exchange(`k${index}`, index ? `k${index - 1}` : "", `Question ${index}`, `r${index}`, [
      { type: "text", text: MARKDOWN },
      { type: "finished", reason: "stop" },
    ]),
  ).flat();
  await chat.tell({ type: "changes", changes, isRunning: false });
  await chat.page.locator(".response[data-key=k199] .markdown").waitFor();
  await chat.page.waitForFunction(() => document.querySelectorAll(".markdown").length === 200);
  expect(await chat.page.locator(".log").evaluate((log) => log.scrollTop)).toBeGreaterThan(10_000);
  await chat.close();
});
