/** Whatever a model writes: nothing is run, nothing is loaded, nothing leads anywhere without the host. */
import { expect, test } from "vitest";
import { apply, EMPTY } from "../../src/chat/conversation";
import { page as html } from "../../src/chat/page";
import type { ChatEvent } from "../../src/protocol";
import { ChatPage, launched } from "./chatPage";
import { exchange } from "./samples";

const HOSTILE = `
<script>window.hacked = 1</script>
<img src="https://evil.example/pixel.png" onerror="window.hacked = 2">
<iframe src="https://evil.example/"></iframe><style>body { display: none }</style>
<svg onload="window.hacked = 3"><a href="javascript:window.hacked = 4">x</a></svg>

![an image](https://evil.example/image.png) and ![one more](data:image/svg+xml,<svg/onload=alert(1)>)

[script](javascript:window.hacked=5) [tab](java\tscript:alert(1)) [upper](JaVaScRiPt:alert(1))
[command](command:workbench.action.terminal.new) [editor](vscode://settings) [data](data:text/html,<script>alert(1)</script>)
[entity](&#106;avascript:alert(1)) [blank](" javascript:alert(1)) [remote](//evil.example/x)

[good](https://example.org/page) [file](src/app.py) [mail](mailto:a@example.org) <https://auto.example/>

\`\`\`html" onmouseover="window.hacked=6
<script>window.hacked = 7</script>
\`\`\`

| <b>a</b> | b |
| --- | --- |
| <img src=x onerror=alert(1)> | [x](javascript:alert(1)) |

[ref]: javascript:alert(1)
[ref] &lt;script&gt;alert(1)&lt;/script&gt;
`;

const browser = launched();

async function opened(text: string): Promise<ChatPage> {
  const chat = await ChatPage.open(browser());
  const events: readonly ChatEvent[] = [
    { type: "reasoning", text },
    { type: "text", text },
    { type: "warning", code: "x", message: text, remedy: text },
    { type: "error", code: "x", message: text, remedy: text },
    {
      type: "toolCall",
      id: "1",
      name: "x",
      title: text,
      kind: "other",
      arguments: { text },
      locations: [],
      status: "completed",
      result: text,
    },
    { type: "finished", reason: "stop" },
  ];
  await chat.show(exchange("a", "", text, "f00d", events).reduce(apply, EMPTY));
  for (const summary of await chat.page.locator("summary").all()) await summary.click();
  await chat.settle();
  return chat;
}

test("hostile Markdown runs nothing, loads nothing and breaks nothing", async () => {
  const chat = await opened(HOSTILE);
  const found = await chat.page.evaluate(() => ({
    hacked: (window as unknown as { hacked?: number }).hacked,
    active: document.querySelectorAll(
      "main script, iframe, img, object, embed, style, main svg a, [href], [src]:not(script)",
    ).length,
    handlers: [...document.querySelectorAll("main *")]
      .flatMap((element) => element.getAttributeNames())
      .filter((name) => /^on|^style$/.test(name)),
  }));
  expect(found).toEqual({ hacked: undefined, active: 1, handlers: [] });
  expect(await chat.page.locator("[href]").evaluate((element) => element.outerHTML)).toContain("stylesheet");
  expect(chat.requested).toEqual([]);
  expect(chat.complaints).toEqual([]);
  await chat.close();
});

test("only web pages, mail addresses and files are links, and a click only tells the host", async () => {
  const chat = await opened(HOSTILE);
  const links = chat.page.locator(".parts > .markdown [data-href]");
  const targets = await links.evaluateAll((all) => all.map((one) => one.getAttribute("data-href")));
  expect(targets).toEqual([
    "https://evil.example/pixel.png",
    "https://evil.example/",
    "https://evil.example/image.png",
    "https://example.org/page",
    "src/app.py",
    "mailto:a@example.org",
    "https://auto.example/",
  ]);
  await chat.page.getByRole("link", { name: "good" }).last().click();
  await chat.page.getByRole("link", { name: "file" }).last().focus();
  await chat.page.keyboard.press("Enter");
  expect(await chat.told("link")).toEqual([
    { type: "link", href: "https://example.org/page" },
    { type: "link", href: "src/app.py" },
  ]);
  expect(chat.requested).toEqual([]);
  expect(chat.page.url()).toBe("http://view.test/");
  await chat.close();
});

test("the page allows its own script and style, and nothing else", () => {
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(
    html({ script: "s", style: "c", source: "SELF", nonce: "N" }),
  )?.[1];
  expect(policy).toBe("default-src 'none'; style-src SELF; script-src 'nonce-N'; base-uri 'none'; form-action 'none'");
});
