/** A workspace that nobody trusts yet: the chat answers, but no agent is started. */
import { existsSync } from "node:fs";
import type { Frame, Locator } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openWindow, variable, type Window } from "../browser/browser";
import { Workbench } from "../browser/workbench";

const PATIENCE = { timeout: 90_000 };
let window: Window;
let bench: Workbench;
let view: Frame;

beforeAll(async () => {
  window = await openWindow();
  bench = new Workbench(window.page);
  await bench.open();
  view = await bench.chat();
});
afterEach(async ({ task }) => {
  const picture = process.env["PICTURE"];
  if (task.result?.state === "fail" && picture) await window.page.screenshot({ path: picture });
});
afterAll(() => window.browser.close());

function question(): Locator {
  return window.page.locator(".notification-toast", { hasText: "ollm asks: Release the Kraken" });
}

/** Ask the agent, and allow it. */
async function release(): Promise<void> {
  await bench.newChat(view);
  await bench.ask(view, "/kraken What is 2+2?");
  await question().waitFor(PATIENCE);
  await window.page.keyboard.press("Control+Alt+y");
}

test("the model on the machine answers in restricted mode", async () => {
  await window.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).first().waitFor(PATIENCE);
  await bench.ask(view, "What would you test here?");
  await view.getByText("an empty name").waitFor(PATIENCE);
});

test("no agent is started, even after a yes, and the reason is told", async () => {
  await release();
  await view.getByText("does not run in a workspace that you do not trust").first().waitFor(PATIENCE);
  expect(existsSync(variable("RECEIVED"))).toBe(false);
});

test("once the workspace is trusted, the server is started anew, and an agent answers", async () => {
  await bench.command("Workspaces: Manage Workspace Trust");
  await window.page
    .locator(".workspace-trust-editor")
    .getByRole("button", { name: "Trust", exact: true })
    .click(PATIENCE);
  await window.page
    .locator(".statusbar-item", { hasText: "Restricted Mode" })
    .first()
    .waitFor({ state: "hidden", ...PATIENCE });
  view = await bench.chat();
  await release();
  await view.getByText("covered by your plan").first().waitFor(PATIENCE);
  expect(existsSync(variable("RECEIVED"))).toBe(true);
});
