/** The types of messages and the samples that the server's own tests use are about the same messages. */
import { expect, test } from "vitest";
import samples from "../../../../docs/protocol-samples.json";
import type { ChatEvent, Commands, KrakenState, PermissionParams, Requests, Status } from "../../src/protocol";
import { rows, summary } from "../../src/permission/choices";
import { krakenPage, historyPage, statusText } from "../../src/words";

const METHODS: Record<keyof Requests, true> = {
  "ollm/chat/send": true,
  "ollm/chat/list": true,
  "ollm/chat/get": true,
  "ollm/chat/rename": true,
  "ollm/chat/delete": true,
  "ollm/context/preview": true,
  "ollm/models/list": true,
  "ollm/models/pull": true,
  "ollm/models/show": true,
  "ollm/models/delete": true,
  "ollm/kraken/release": true,
  "ollm/kraken/status": true,
  "ollm/kraken/history": true,
};
const EVENTS: Record<ChatEvent["type"], true> = {
  started: true,
  turn: true,
  text: true,
  reasoning: true,
  toolCall: true,
  usage: true,
  warning: true,
  escalation: true,
  error: true,
  finished: true,
};

test("every request has a type, and every type a request", () => {
  expect(Object.keys(METHODS).sort()).toEqual(Object.keys(samples.params).sort());
  expect(Object.keys(METHODS).sort()).toEqual(Object.keys(samples.results).sort());
});

test("every event has a type, and every type an event", () => {
  expect(Object.keys(EVENTS).sort()).toEqual(samples.events.map(({ type }) => type).sort());
});

test("the commands of the samples are known", () => {
  const known: (keyof Commands)[] = ["ollm.explain", "ollm.fix", "ollm.edit"];
  expect(Object.keys(samples.commands).sort()).toEqual([...known].sort());
});

test("the sample of a question can be shown and answered", () => {
  const params = samples.asked["ollm/permission"].params as PermissionParams;
  const labels = rows(params, false).map(({ label }) => label);
  expect(labels.slice(0, 3)).toEqual(["Allow once", "Allow in this conversation", "Always allow"]);
  expect(labels).toContain("Reject with feedback…");
  expect(labels.at(-1)).toBe("Review first");
  expect(summary(params)).toBe("+1 −1");
});

test("the sample of a status can be shown", () => {
  const status = samples.notifications["ollm/status"] as Status;
  const { text, tooltip, isWarning } = statusText("running", status);
  expect(text).toBe("$(loading~spin) qwen2.5-coder:7b · $(flame) · $1.25");
  expect(tooltip).toContain("Spent: $1.25 of $10.00");
  expect(isWarning).toBe(false);
});

test("the status bar tells the states of the Kraken apart", () => {
  const shown = (kraken: KrakenState): [string, string | undefined, boolean] => {
    const { text, tooltip, isWarning } = statusText("running", { model: "a:b", busy: false, spent: 0, kraken });
    return [text, /Kraken: (.*)/.exec(tooltip)?.[1], isWarning];
  };
  expect(shown("none")).toEqual(["$(sparkle) b", "off", false]);
  expect(shown("ready")).toEqual(["$(sparkle) b · $(flame)", "ready", false]);
  expect(shown("active")).toEqual(["$(sparkle) b · $(sync~spin) Kraken", "at work", false]);
  expect(shown("over_budget")).toEqual(["$(sparkle) b · $(warning) Kraken over budget", "over budget", true]);
});

test("the samples of the Kraken can be shown", () => {
  const status = samples.results["ollm/kraken/status"] as Requests["ollm/kraken/status"]["result"];
  expect(krakenPage(status)).toContain("| codex | agent | gpt-5-codex |  | You are not logged in. Run: codex login |");
  const { releases } = samples.results["ollm/kraken/history"] as Requests["ollm/kraken/history"]["result"];
  expect(historyPage(releases)).toContain("| $1.25 | done |");
});
