/** What only a person would see, in a window of VS Code with the packaged extension. The model is a fake. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Frame } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { Stopwatch, words } from "../browser/stopwatch";
import { bench, PATIENCE, window } from "./opened";

const FILE = "greeting.py";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let view: Frame;

beforeAll(async () => {
  await bench.openFile(FILE);
});

async function violations(): Promise<string[]> {
  await view.evaluate(axe);
  return view.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string | null }[] }> };
    };
    const { violations } = await axe.run();
    return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id }) => id);
  });
}

test("the status bar names the model, and its menu opens by a click", async () => {
  await bench.status("smollm2").click();
  await bench.row("Choose model").waitFor(PATIENCE);
  await window.page.keyboard.press("Escape");
});

test("a chat streams into the view by the keyboard alone, and has no serious barrier", async () => {
  view = await bench.chat();
  expect(await violations()).toEqual([]);
  await bench.goToFile(FILE);
  await window.page.keyboard.press("Control+Alt+j");
  await expect.poll(() => view.evaluate(() => document.activeElement?.tagName), PATIENCE).toBe("TEXTAREA");
  await window.page.keyboard.type("What would you test here?");
  await window.page.keyboard.press("Enter");
  await view.getByText("an empty name").waitFor(PATIENCE);
  await bench.settled(view);
  expect(await violations()).toEqual([]);
});

test("Escape stops an answer that is long", async () => {
  await bench.ask(view, "Count for ever.");
  await view.getByText("number 20 ").first().waitFor(PATIENCE);
  await window.page.keyboard.press("Escape");
  await view
    .getByText(/stopped/i)
    .first()
    .waitFor(PATIENCE);
  await bench.settled(view);
});

test("the light bulb explains a selection in the chat view", async () => {
  await bench.selectAll();
  await bench.codeAction("ollm: Explain");
  await view.getByText("nothing is printed").waitFor(PATIENCE);
  await bench.settled(view);
});

test("a change is shown as a diff, and made by the keyboard alone", async () => {
  await bench.ask(view, "Be polite.");
  await window.page.locator(".monaco-diff-editor .line-insert").first().waitFor(PATIENCE);
  await window.page.locator(".notification-toast", { hasText: "ollm asks: Edit greeting.py" }).waitFor(PATIENCE);
  // The question has not taken the focus from who is writing.
  await window.page.keyboard.type("later");
  await expect.poll(() => view.getByLabel("Message").inputValue(), PATIENCE).toBe("later");
  await view.getByLabel("Message").fill("");
  await bench.command("ollm: Show All Answers");
  await bench.row("Reject with feedback").waitFor(PATIENCE);
  await window.page.keyboard.press("Escape");
  await window.page.keyboard.press("Control+Alt+y");
  await bench.settled(view);
  await expect.poll(() => bench.text(), PATIENCE).toContain("Good morning");
});

test("a model is chosen by the keyboard alone", async () => {
  await bench.command("ollm: Choose Default Model");
  await bench.row("other:1b").waitFor(PATIENCE);
  await window.page.keyboard.type("other");
  await window.page.keyboard.press("Enter");
  await bench.status("other:1b").waitFor(PATIENCE);
});

test("of a proposal with two files one is taken", async () => {
  await bench.newChat(view);
  await bench.ask(view, "/kraken Mend both.");
  await window.page.locator(".notification-toast", { hasText: "ollm asks: Release the Kraken" }).waitFor(PATIENCE);
  await window.page.keyboard.press("Control+Alt+y");
  const diff = window.page.locator(".tab", { hasText: "greeting.py, other.py" });
  await diff.waitFor(PATIENCE);
  for (const name of [FILE, "other.py"])
    await window.page.locator(".multiDiffEntry", { hasText: name }).first().waitFor(PATIENCE);
  await bench.command("ollm: Allow Only Some of the Files");
  await bench.row(FILE).click(PATIENCE);
  await window.page.keyboard.press("Enter");
  await view.getByText("Changed: other.py").first().waitFor(PATIENCE);
  await bench.settled(view);
  await diff.waitFor({ state: "hidden", ...PATIENCE });
  await bench.goToFile("other.py");
  await expect.poll(() => bench.text(), PATIENCE).toContain("VALUE = 2");
  await bench.goToFile(FILE);
  await expect.poll(() => bench.text(), PATIENCE).toContain("Grüße, wie es sich gehört.");
});

test("a block that replaces a whole file is shown before, and is made only after a yes", async () => {
  await bench.newChat(view);
  await bench.ask(view, "Write it anew.");
  await bench.settled(view);
  const background = await view.locator("pre code").evaluate((code) => getComputedStyle(code).backgroundColor);
  expect(background).toBe("rgba(0, 0, 0, 0)");
  await bench.goToFile("other.py");
  const question = window.page.locator(".notification-toast", { hasText: "ollm asks: Replace all of other.py" });
  const diff = window.page.locator(".tab", { hasText: "other.py (ollm proposes)" });
  const apply = async (answer: () => Promise<void>): Promise<void> => {
    await view.getByRole("button", { name: "Apply to the document" }).click(PATIENCE);
    await window.page.locator(".monaco-diff-editor .line-insert").first().waitFor(PATIENCE);
    await question.waitFor(PATIENCE);
    await answer();
    await question.waitFor({ state: "hidden", ...PATIENCE });
    await diff.waitFor({ state: "hidden", ...PATIENCE });
  };
  await apply(() => window.page.keyboard.press("Control+Alt+n"));
  await expect.poll(() => bench.text(), PATIENCE).toMatch(/^VALUE = 2\s*$/);
  await apply(async () => {
    // It is not the server's question: it stays when that ends.
    await bench.command("ollm: Restart Server");
    await bench.command("ollm: Reject with Feedback");
    await window.page
      .locator(".quick-input-widget", { hasText: "What should the model do instead?" })
      .waitFor(PATIENCE);
    await window.page.keyboard.type("Shorter, please.");
    await window.page.keyboard.press("Enter");
  });
  await expect.poll(() => view.getByLabel("Message").inputValue(), PATIENCE).toBe("Shorter, please.");
  await view.getByLabel("Message").fill("");
  await apply(() => window.page.keyboard.press("Control+Alt+y"));
  // Until it is told, the focus may move, and keys with it.
  await bench.status("Changed other.py.").waitFor(PATIENCE);
  await expect.poll(() => bench.text(), PATIENCE).toMatch(/^VALUE = 2\s+MORE = 3\s*$/);
  // Nothing is selected that the next block would replace.
  await window.page.locator(".statusbar").getByText("Ln 3, Col 1", { exact: true }).waitFor(PATIENCE);
});

test("an answer of 20,000 tokens is painted while it grows, and every piece of it once", async () => {
  await bench.newChat(view);
  const stopwatch = await Stopwatch.start(window.page, view);
  await bench.ask(view, "Tell a long story.");
  while (!(await stopwatch.isOver("The story ends here.")));
  const seen = await stopwatch.stop();
  console.log(`measured: in the window, 20,000 tokens: ${words(seen)}`);
  expect(seen.updates).toBeGreaterThan(20);
  // What is painted once stays: a view that paints everything anew would add as much with every update.
  expect(seen.added).toBeLessThan(3 * seen.nodes + 30 * seen.updates);
  expect(seen.removed).toBeLessThan(seen.nodes + 30 * seen.updates);
  // By processor time, so that it does not matter what else the machine does; test/view is stricter with the view alone.
  const long = seen.longWork.reduce((sum, time) => sum + time, 0) / 1000;
  expect(long / seen.seconds).toBeLessThan(0.1);
  expect(Math.max(0, ...seen.longWork)).toBeLessThan(200);
  // A block costs no more at the end of a long answer than at its beginning.
  expect(seen.lastQuarter).toBeLessThan(2 * seen.firstQuarter);
});

test("nothing was loaded from elsewhere for the view", () => {
  const hosts = [...window.refused].filter((host) => !/(vscode|visualstudio|microsoft|github|open-vsx)/.test(host));
  expect(hosts).toEqual([]);
});
