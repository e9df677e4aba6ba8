/** The whole way with the real server and a real model: chat, stop, a killed server, and the light bulb. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Frame } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { variable } from "../browser/browser";
import { bench, PATIENCE, window } from "./opened";

const FILE = "style.css";
let view: Frame;

beforeAll(async () => {
  await bench.openFile(FILE);
  view = await bench.chat();
});

/** The settings file is read again with the next question. */
function use(model: string): void {
  const file = variable("SETTINGS");
  writeFileSync(file, readFileSync(file, "utf8").replace(/^model: .*$/m, `model: "${model}:${model}"`));
}

/** Ask a model that talks for long, and wait until the view has shown several pieces of its answer. */
async function listen(): Promise<void> {
  await bench.ask(view, "Tell me everything.");
  const lengths = new Set<number>();
  const grows = async (): Promise<boolean> => {
    const { isBusy, length } = await view.evaluate(() => {
      const last = [...document.querySelectorAll(".response")].at(-1);
      return {
        isBusy: last?.getAttribute("aria-busy") === "true",
        length: last?.querySelector(".markdown")?.textContent.length ?? 0,
      };
    });
    if (isBusy && length > 0) lengths.add(length);
    return lengths.size > 2;
  };
  await expect.poll(grows, { ...PATIENCE, interval: 20 }).toBe(true);
}

/** What is shown of the last answer, once it has ended. */
async function ended(): Promise<string> {
  await bench.settled(view);
  const last = view.locator(".response").last();
  await last.locator(".end .actions").waitFor(PATIENCE);
  return last.locator(".answer").innerText();
}

async function stopped(): Promise<void> {
  await window.page.keyboard.press("Escape");
  expect(await ended()).toContain("Stopped.");
}

test("the light bulb explains a selection in the view", async () => {
  await bench.selectAll();
  await bench.codeAction("ollm: Explain");
  await view.getByText(`Explain ${FILE}`).first().waitFor(PATIENCE);
  expect((await ended()).split(/\s+/).length).toBeGreaterThan(5);
});

test("an answer streams into the view, and Escape stops it", async () => {
  use("talker");
  await listen();
  await bench.status("talker").waitFor(PATIENCE);
  await stopped();
});

test("a server that is killed while it answers is started again, and the chat goes on", async () => {
  await listen();
  process.kill(Number(readFileSync(variable("PID_FILE"), "utf8")), "SIGKILL");
  expect(await ended()).toContain("ollm-lsp ended while it answered");
  await listen();
  await stopped();
});

for (const [key, isMade] of [
  ["Control+Alt+n", false],
  ["Control+Alt+y", true],
] as const)
  test(`the light bulb fixes what the editor has found, ${isMade ? "after a yes" : "and not after a no"}`, async () => {
    use("fixer");
    await bench.goToFile(FILE);
    await bench.selectAll();
    await bench.codeAction("ollm: Fix: Unknown property");
    await window.page.locator(".monaco-diff-editor .line-insert").first().waitFor(PATIENCE);
    await window.page.keyboard.press(key);
    await window.page.locator(".tab", { hasText: "ollm proposes" }).waitFor({ state: "hidden", ...PATIENCE });
    const text = isMade ? /^\.note \{\s+color:\s+[a-z]+;\s+\}/ : /colr:\s+red;/;
    await expect.poll(() => bench.text(), PATIENCE).toMatch(text);
  });
