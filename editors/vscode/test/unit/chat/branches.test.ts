import { expect, test } from "vitest";
import { alternatives, newestLeaf, parentId, path } from "../../../src/chat/branches";
import { blank, EMPTY, type Conversation, type Response } from "../../../src/chat/conversation";

function response(key: string, parent: string, isKept = true): Response {
  return { ...blank(key, parent), id: `id-${key}`, isKept };
}

/** a ─ b ─ c, with b2 in place of b, and an order d behind c. */
const TREE: Conversation = {
  ...EMPTY,
  responses: [
    response("a", ""),
    response("b", "a"),
    response("c", "b"),
    response("b2", "a"),
    response("d", "c", false),
  ],
  leaf: "d",
};

test("the path leads from the first response to the one that is shown last", () => {
  expect(path(TREE).map(({ key }) => key)).toEqual(["a", "b", "c", "d"]);
  expect(path({ ...TREE, leaf: "b2" }).map(({ key }) => key)).toEqual(["a", "b2"]);
  expect(path({ ...TREE, leaf: "" })).toEqual([]);
});

test("a path through responses that follow each other in a circle ends", () => {
  const circle = { ...EMPTY, responses: [response("a", "b"), response("b", "a")], leaf: "a" };
  expect(path(circle).map(({ key }) => key)).toEqual(["b", "a"]);
});

test("an edited question has the old one as its alternative", () => {
  expect(alternatives(TREE, response("b", "a")).map(({ key }) => key)).toEqual(["b", "b2"]);
});

test("a branch is shown to its newest end", () => {
  expect(newestLeaf(TREE, "b")).toBe("d");
  expect(newestLeaf(TREE, "a")).toBe("b2");
});

test("a message follows the nearest response that the server keeps", () => {
  expect(parentId(TREE, "d")).toBe("id-c");
  expect(parentId(TREE, "b2")).toBe("id-b2");
  expect(parentId(TREE, "")).toBe("");
  expect(parentId({ ...EMPTY, responses: [response("x", "", false)] }, "x")).toBe("");
});
