/** What the user is offered when they are asked. */
import { expect, test } from "vitest";
import type { FileChange, PermissionParams } from "../../src/protocol";
import { rows, summary } from "../../src/permission/choices";

const change = (uri: string): FileChange => ({
  uri,
  version: 1,
  diff: "@@ -1 +1,2 @@\n-a\n+b\n+c\n",
  newText: "b\nc\n",
});
const question: PermissionParams = {
  id: "q",
  title: "Edit",
  kind: "edit",
  detail: "",
  options: [
    { id: "allow_once", label: "Allow once" },
    { id: "reject_once", label: "Reject" },
  ],
};
const kinds = (params: PermissionParams, edited = false): string[] =>
  rows(params, edited).map(({ choice }) => (choice.kind === "answer" ? choice.optionId : choice.kind));

test("a yes comes first, then every no, and looking before answering", () => {
  expect(kinds(question)).toEqual(["allow_once", "reject_once", "feedback", "review"]);
});

test("several files can be taken one by one, a single one cannot", () => {
  expect(kinds({ ...question, changes: [change("a")] })).not.toContain("someFiles");
  expect(kinds({ ...question, changes: [change("a"), change("b")] })).toContain("someFiles");
  expect(summary({ ...question, changes: [change("a"), change("b")] })).toBe("2 files, +4 −2");
});

test("a release can be edited and has no model that listens to feedback", () => {
  const cost = { amount: 0.5, currency: "USD", known: false };
  const release = { ...question, estimate: { tokens: 1200, cost }, briefing: "text" };
  expect(kinds(release)).toEqual(["allow_once", "editBriefing", "reject_once", "review"]);
  expect(rows(release, true).find(({ choice }) => choice.kind === "editBriefing")?.label).toBe(
    "Edit again what is shared",
  );
  expect(summary(release)).toBe("about 1,200 tokens, up to $0.50 (price unknown)");
});
