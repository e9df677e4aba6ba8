import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { fileOf, languageOf } from "../../../src/chat/fence";
import { fileLink } from "../../../src/chat/fileLink";
import { suggest } from "../../../src/chat/orders";
import { blank } from "../../../src/chat/conversation";
import { ago, bytes, duration, foot, money, shortFoot } from "../../../src/chat/view/words";
import { wordAtCursor } from "../../../src/chat/view/wordAtCursor";

const FILES = ["src/app.py", "src/apply/index.ts", "tests/test_app.py", "docs/a b.md"];
const files = (): Promise<readonly string[]> => Promise.resolve(FILES);

async function labels(word: string): Promise<readonly string[]> {
  return (await suggest(word, files)).map(({ label }) => label);
}

test("every order of docs/chat.md is suggested, and every mention", async () => {
  const page = readFileSync(path.join(import.meta.dirname, "../../../../../docs/chat.md"), "utf8");
  const table = page.slice(page.indexOf("| order |"), page.indexOf("`/k` and"));
  const orders = [...table.matchAll(/`(\/[a-z]+(?: (?:status|history|config))?)/g)].map((found) => found[1]);
  expect(new Set(await labels("/"))).toEqual(new Set(orders));
  const mentions = [...page.matchAll(/`(#[a-z]+)`/g)].map((found) => found[1]);
  expect(await labels("#")).toEqual(expect.arrayContaining([...new Set(mentions)]));
});

test("suggestions follow what is typed, names before paths", async () => {
  expect(await labels("/ex")).toEqual(["/explain"]);
  expect(await labels("#sel")).toEqual(["#selection"]);
  expect(await labels("@app")).toEqual(["app.py", "test_app.py", "index.ts"]);
  expect(await suggest("#file:a b", files)).toEqual([
    { insert: '#file:"docs/a b.md" ', label: "a b.md", detail: "docs/a b.md" },
  ]);
});

test("an order is one only at the beginning, a mention everywhere", () => {
  expect(wordAtCursor("/fi", 3)).toEqual({ text: "/fi", start: 0, end: 3 });
  expect(wordAtCursor("see /fi", 7)).toBeNull();
  expect(wordAtCursor("see #sel now", 8)).toEqual({ text: "#sel", start: 4, end: 8 });
  expect(wordAtCursor("me@home", 7)).toBeNull();
});

test.each([
  ["python", "python", ""],
  ["python app.py", "python", "app.py"],
  ['ts title="src/my-app.ts"', "ts", "src/my-app.ts"],
  ["src/app.py", "py", "src/app.py"],
  ["", "", ""],
])("the fence %j has the language %j and the file %j", (info, language, file) => {
  expect([languageOf(info), fileOf(info)]).toEqual([language, file]);
});

test.each([
  ["src/my-app.py", "src/my-app.py", 0],
  ["./app.py#L12", "./app.py", 11],
  ["app.py:12:3", "app.py", 11],
  ["app.py#L3-L9", "app.py", 2],
  ["file:///project/a%20b.py", "/project/a b.py", 0],
  ["100%.md", "100%.md", 0],
  ["C:\\project\\app.py:12", "/c:/project/app.py", 11],
  ["C:/project/app.py#L3", "/c:/project/app.py", 2],
  ["src\\my app.py", "src/my app.py", 0],
  ["file:///C:/project/a%20b.py", "/c:/project/a b.py", 0],
  ["file:///c%3A/project/app.py", "/c:/project/app.py", 0],
])("the link %j leads to %j, line %i", (href, file, line) => {
  expect(fileLink(href)).toEqual({ path: file, line });
});

test("what an answer took is told in full, and in few words", () => {
  const answer = { ...blank("a", ""), usage: { inputTokens: 1570, outputTokens: 44 }, durationMs: 203 };
  expect([foot(answer), shortFoot(answer)]).toEqual(["1,570 tokens in, 44 out · 203 ms", "1.6K → 44 tokens · 203 ms"]);
  expect(shortFoot(blank("a", ""))).toBe("");
});

test("numbers are short", () => {
  const now = Date.parse("2026-01-02T12:00:00Z");
  expect([duration(840), duration(8440), duration(125_000)]).toEqual(["840 ms", "8.4 s", "2 min 5 s"]);
  expect([bytes(4683087332), bytes(900)]).toEqual(["4.7 GB", "900 B"]);
  expect(
    ["2026-01-02T11:59:40Z", "2026-01-02T11:15:00Z", "2026-01-01T12:00:00Z"].map((time) => ago(time, now)),
  ).toEqual(["now", "45 min", "1 d"]);
  expect(money({ amount: 0.0012, currency: "USD", known: true })).toBe("$0.0012");
  expect(money({ amount: 0, currency: "USD", known: true })).toBe("");
  expect(money({ amount: 0.5, currency: "USD", known: false })).toBe("price unknown, counted as $0.500");
});
