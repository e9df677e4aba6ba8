import { expect, test } from "vitest";
import samples from "../../../../../docs/protocol-samples.json";
import { path } from "../../../src/chat/branches";
import { restored } from "../../../src/chat/stored";
import type { Conversation } from "../../../src/protocol";

const KEPT = samples.results["ollm/chat/get"] as unknown as Conversation;

test("a kept conversation is shown with its tool calls and their results", () => {
  const conversation = restored(KEPT);
  expect(conversation).toMatchObject({ id: "c0ffee", title: "What does this function do?", leaf: "cafe" });
  expect(conversation.responses[0]).toMatchObject({ id: "f00d", durationMs: 1500, isKept: true, finish: "stop" });
  expect(conversation.responses[0]?.parts).toMatchObject([
    { type: "reasoning", text: "I have to look." },
    { type: "toolCall", title: "read_file app.py", status: "completed", result: "a + b" },
    { type: "text", text: "It adds two numbers." },
  ]);
});

test("a recap stands at the end of the branch that it sums up", () => {
  expect(path(restored(KEPT)).map(({ key, isRecap }) => [key, isRecap])).toEqual([
    ["f00d", false],
    ["cafe", true],
  ]);
});

test("a tool call whose result was lost in a crash is shown as failed", () => {
  const [first] = KEPT.responses;
  if (!first) throw new Error("no sample");
  const cut = { ...first, items: first.items.filter((item) => item.type === "toolCall") };
  expect(restored({ ...KEPT, responses: [cut] }).responses[0]?.parts).toMatchObject([
    { type: "toolCall", status: "failed" },
  ]);
});

test("the head and the foot of a kept release are not shown twice", () => {
  const [first] = KEPT.responses;
  if (!first) throw new Error("no sample");
  const text = "**claude** · sonnet\n\nZero.\n\n---\n*12 tokens read, 3 written · $0.01 · 2.0 s*";
  const release = { ...first, model: "claude:sonnet", items: [{ type: "text", text } as const] };
  const shown = restored({ ...KEPT, responses: [release] }).responses[0];
  expect(shown?.parts).toEqual([{ type: "text", text: "Zero." }]);
  expect(shown?.foot).toBe("12 tokens read, 3 written · $0.01 · 2.0 s");
});
