import { expect, test } from "vitest";
import { place, type Placement, type Target } from "../../../src/chat/placement";

const DOCUMENT = `import os

class Greeter:
    def greet(self, name):
        return "Hello " + name

    def leave(self):
        return "Bye"
`;

function target(text: string, selected = "", symbols: readonly string[] = []): Target {
  const start = selected ? text.indexOf(selected) : text.length;
  return {
    text,
    selection: [start, start + selected.length],
    symbols: symbols.map((source) => ({
      name: /(?:def|class) (\w+)/.exec(source)?.[1] ?? "",
      start: text.indexOf(source),
      end: text.indexOf(source) + source.length,
    })),
  };
}

function applied(text: string, { start, end, text: fresh }: Placement): string {
  return text.slice(0, start) + fresh + text.slice(end);
}

test("code takes the place of the selection, with its indentation", () => {
  const selected = `return "Hello " + name`;
  const changed = applied(DOCUMENT, place("if name:\n    return name\n", target(DOCUMENT, selected)));
  expect(changed).toBe(DOCUMENT.replace(selected, "if name:\n            return name"));
});

test("code takes the place of the definition that has its name", () => {
  const old = `def greet(self, name):\n        return "Hello " + name`;
  const fresh = "def greet(self, name):\n    return f'Hello {name}'\n";
  const changed = applied(DOCUMENT, place(fresh, target(DOCUMENT, "", [old])));
  expect(changed).toBe(DOCUMENT.replace(old, "def greet(self, name):\n        return f'Hello {name}'"));
});

test("a name that two definitions have is not guessed", () => {
  const text = "def a():\n    pass\n\n\nif x:\n    def a():\n        1\n";
  const symbols = [
    { name: "a", start: 0, end: 17 },
    { name: "a", start: 30, end: 46 },
  ];
  const { start, end } = place("def a():\n    return 2", { text, selection: [text.length, text.length], symbols });
  expect([start, end]).toEqual([text.length, text.length]);
});

test("a new version of the whole document takes its place", () => {
  const fresh = DOCUMENT.replace("Hello", "Hi").trimEnd();
  const placed = place(fresh, target(DOCUMENT));
  expect(applied(DOCUMENT, placed)).toBe(DOCUMENT.replace("Hello", "Hi"));
  expect(placed.isRewrite).toBe(true);
});

test("an empty document becomes the code", () => {
  const placed = place("x = 1", target(""));
  expect(applied("", placed)).toBe("x = 1\n");
  expect(placed.isRewrite).toBe(false);
});

test("anything else is inserted at the cursor, and nothing is lost", () => {
  const changed = applied(DOCUMENT, place("print(Greeter())", target(DOCUMENT)));
  expect(changed).toBe(`${DOCUMENT}print(Greeter())`);
});

const SCRIPT = `import { get } from "./net";

export const load = () => {
  return get("a");
};
let x = 1, y = 2;
`;

/** Symbols as TypeScript's server tells them: from the name to before the semicolon. */
function symbolOf(text: string, name: string, source: string): Target["symbols"] {
  const start = text.indexOf(source);
  return [{ name, start, end: start + source.length }];
}

test.each([
  ['export const load = () => get("b");\n', 'export const load = () => get("b");'],
  ['export const load = () => get("b")\n', 'export const load = () => get("b");'],
])("a definition is replaced with its keywords, and no semicolon is doubled: %s", (code, expected) => {
  const source = 'load = () => {\n  return get("a");\n}';
  const placed = place(code, { ...target(SCRIPT), symbols: symbolOf(SCRIPT, "load", source) });
  expect(applied(SCRIPT, placed)).toBe(SCRIPT.replace(`export const ${source};`, expected));
});

test("a definition that shares its line is left alone", () => {
  const symbols = symbolOf(SCRIPT, "x", "x = 1");
  const placed = place("let x = 3;", { ...target(SCRIPT), symbols });
  expect(applied(SCRIPT, placed)).toBe(`${SCRIPT}let x = 3;`);
});

test("a type of Go is replaced with its keyword", () => {
  const text = "package a\n\ntype Foo struct {\n\tA int\n}\n";
  const symbols = symbolOf(text, "Foo", "Foo struct {\n\tA int\n}");
  const placed = place("type Foo struct {\n\tB int\n}\n", { ...target(text), symbols });
  expect(applied(text, placed)).toBe(text.replace("A int", "B int"));
});

test("lines end as they do in the document", () => {
  const text = DOCUMENT.replaceAll("\n", "\r\n");
  expect(place("a\nb\n", target(text)).text).toBe("a\r\nb");
  expect(place(DOCUMENT, target(text)).text).toBe(text);
});
