/** A workspace that nobody trusts yet: the chat answers, but no agent is started. */
import { existsSync } from "node:fs";
import type { Frame, Locator } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { variable } from "../browser/browser";
import { bench, PATIENCE, window } from "./opened";

let view: Frame;

beforeAll(async () => {
  view = await bench.chat();
});

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
