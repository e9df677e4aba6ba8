/** No serious violation of the rules of accessibility, in every theme and on every page of the view. */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import type { AxeResults } from "axe-core";
import { describe, expect, test } from "vitest";
import samples from "../../../../docs/protocol-samples.json";
import { EMPTY } from "../../src/chat/conversation";
import type { ModelsList } from "../../src/protocol";
import { ChatPage, launched } from "./chatPage";
import { everything } from "./samples";
import type { ThemeName } from "./themes";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const browser = launched();

declare const axe: { run(context: Document, options: object): Promise<AxeResults> };

async function violations(chat: ChatPage): Promise<readonly string[]> {
  // Through the debugger, because the page itself allows no foreign script.
  await chat.page.evaluate(AXE);
  const { violations: found } = await chat.page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ""}`));
}

describe.each<ThemeName>(["light", "dark", "high-contrast"])("in the %s theme", (theme) => {
  test("every page of the view is accessible", async () => {
    const chat = await ChatPage.open(browser(), { theme });
    await chat.show(EMPTY);
    expect(await violations(chat)).toEqual([]);
    await chat.show(everything(), true);
    for (const summary of await chat.page.locator("summary").all()) await summary.click();
    await chat.settle();
    expect(await violations(chat)).toEqual([]);
    const { conversations } = samples.results["ollm/chat/list"];
    await chat.tell({ type: "conversations", conversations: conversations }, { type: "show", what: "conversations" });
    await chat.page.locator(".row").waitFor();
    expect(await violations(chat)).toEqual([]);
    await chat.page.keyboard.press("Escape");
    await chat.tell(
      { type: "models", ...(samples.results["ollm/models/list"] as ModelsList) },
      { type: "show", what: "models" },
    );
    await chat.page.locator(".picker .note").waitFor();
    expect(await violations(chat)).toEqual([]);
    await chat.page.keyboard.press("Escape");
    await chat.page.keyboard.type("/");
    const suggestions = [
      { insert: "/fix ", label: "/fix", detail: "proposes a fix" },
      { insert: "/help ", label: "/help", detail: "lists the orders" },
    ];
    await chat.tell({ type: "suggestions", for: "/", suggestions });
    await chat.page.locator(".suggestion").first().waitFor();
    expect(await violations(chat)).toEqual([]);
    await chat.close();
  });
});
