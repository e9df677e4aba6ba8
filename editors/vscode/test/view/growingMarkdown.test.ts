/** Markdown that comes in pieces must look as if it had come at once. Checked in a browser, for many ways to cut it. */
import path from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch } from "./chatPage";
import { MARKDOWN } from "./samples";

let browser: Browser;
let page: Page;

const PIECES = [
  "A paragraph\nof two lines with `code`, **bold** and _emphasis_.\n\n",
  "# Heading\n",
  "Setext\n===\n",
  "para\n# interrupts\n",
  "para\n#1 does not\n",
  "***bold and emphasis***\n***\n",
  "- one\n- two\n\n  still two\n- three\n\n",
  "1. first\n\n   ```js\n   let a = 1;\n   ```\n2. second\n",
  "```python\ndef f():\n    return '```'\n```\n",
  "````md\n```js\nx\n```\n````\n",
  "~~~\ntilde\n~~~\nbehind\n",
  "```\nnever closed\n\n# no heading\n",
  "    indented code\n\n    more of it\n\n",
  "| a | b |\n| --- | :-: |\n| 1 | 2 |\n\n",
  "> quote\nlazy\n> more\n\n",
  "A [link](https://example.org), a <https://auto.example> and https://bare.example.\n\n",
  "A [reference][one] and another [one].\n\n[one]: https://example.org/one\n\n",
  "<b>no HTML</b> &amp; entities\n",
  "Line one\\\nline two\r\nline three\n\n",
  "---\n",
  MARKDOWN,
];

declare const Growing: {
  GrowingMarkdown: new (element: Element) => { show(text: string, isWhole: boolean): void };
};

beforeAll(async () => {
  const built = await build({
    entryPoints: [path.join(import.meta.dirname, "../../src/chat/view/markdown/growingMarkdown.ts")],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "Growing",
  });
  browser = await launch();
  page = await browser.newPage();
  await page.addScriptTag({ content: built.outputFiles[0]?.text ?? "" });
});

afterAll(async () => {
  await browser.close();
});

/** The HTML of a text shown bit by bit; pieces are not told apart from a whole. */
function render(cuts: readonly (readonly [text: string, cut: readonly number[]])[]): Promise<string[]> {
  return page.evaluate(
    (all) => {
      return all.map(([text, ends]) => {
        const element = document.createElement("div");
        const markdown = new Growing.GrowingMarkdown(element);
        for (const end of ends) markdown.show(text.slice(0, end), false);
        markdown.show(text, true);
        for (const piece of element.querySelectorAll(".piece")) piece.replaceWith(...piece.childNodes);
        for (const code of element.querySelectorAll("pre > code")) code.replaceChildren(code.textContent);
        return element.innerHTML;
      });
    },
    cuts as [string, number[]][],
  );
}

function randomly(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

test("every kind of block, cut at every character, looks as if it had come at once", async () => {
  const texts = PIECES.flatMap((piece) => [piece, `before\n\n${piece}behind`]);
  const whole = await render(texts.map((text) => [text, []]));
  const cut = await render(texts.map((text) => [text, Array.from(text, (_, index) => index)]));
  expect(cut).toEqual(whole);
});

test("random documents, cut at random, look as if they had come at once", async () => {
  const random = randomly(7);
  const texts = Array.from({ length: 200 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 6) }, () => PIECES[Math.floor(random() * PIECES.length)] ?? "").join(
      "",
    ),
  );
  const cuts = texts.map((text) => {
    const ends = Array.from({ length: 30 }, () => Math.floor(random() * text.length)).sort((one, other) => one - other);
    return [text, ends] as const;
  });
  expect(await render(cuts)).toEqual(await render(texts.map((text) => [text, []])));
});

test("long documents, which are kept in pieces, look as if they had come at once", async () => {
  const random = randomly(3);
  const some = (): string => PIECES[Math.floor(random() * PIECES.length)] ?? "";
  const texts = Array.from({ length: 10 }, () => Array.from({ length: 80 }, some).join("\n"));
  const cuts = texts.map((text) => {
    const ends = Array.from({ length: 200 }, () => Math.floor(random() * text.length)).sort(
      (one, other) => one - other,
    );
    return [text, ends] as const;
  });
  expect(await render(cuts)).toEqual(await render(texts.map((text) => [text, []])));
});

test("complete blocks stay the same elements to the end", async () => {
  const kept = await page.evaluate((text) => {
    const element = document.createElement("div");
    const markdown = new Growing.GrowingMarkdown(element);
    const seen = new Map<number, Element>();
    const blocks = (): Element[] => [...element.querySelectorAll(":scope > .piece > *")];
    let replaced = 0;
    for (let end = 1; end <= text.length; end += 3) {
      markdown.show(text.slice(0, end), false);
      const children = blocks();
      children.slice(0, -2).forEach((child, index) => {
        if (seen.has(index) && seen.get(index) !== child) replaced += 1;
        seen.set(index, child);
      });
    }
    markdown.show(text, true);
    return { replaced, blocks: blocks().length, pieces: element.children.length };
  }, MARKDOWN.repeat(14));
  expect(kept.blocks).toBeGreaterThan(80);
  expect(kept.pieces).toBe(Math.ceil(kept.blocks / 40));
  expect(kept.replaced).toBe(0);
});
