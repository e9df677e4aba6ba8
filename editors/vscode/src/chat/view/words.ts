/** Numbers, times and states in words. */
import type { Cost, FinishReason, ToolStatus } from "../../protocol";
import type { Response } from "../conversation";

const COUNT = new Intl.NumberFormat("en");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** `1,234`. */
export function count(value: number): string {
  return COUNT.format(value);
}

/** `32.8K`. */
export function shortCount(value: number): string {
  return COMPACT.format(value);
}

/** `4.7 GB`. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), units.length - 1);
  return `${(value / 1000 ** power).toFixed(power > 2 ? 1 : 0)} ${units[power] ?? ""}`;
}

/** `$0.0012`; nothing for what costs nothing. */
export function money(cost: Cost): string {
  if (!cost.known) return cost.amount > 0 ? `price unknown, counted as ${dollars(cost)}` : "price unknown";
  return cost.amount > 0 ? dollars(cost) : "";
}

function dollars({ amount, currency }: Cost): string {
  const digits = amount < 0.01 ? 4 : amount < 1 ? 3 : 2;
  return currency === "USD" ? `$${amount.toFixed(digits)}` : `${amount.toFixed(digits)} ${currency}`;
}

/** `840 ms`, `8.4 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** How long ago something was: `now`, `5 min`, `3 h`, `2 d`, or a date. */
export function ago(time: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(time)) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 7 * 24 * 60) return `${Math.floor(minutes / 60 / 24)} d`;
  return new Date(time).toLocaleDateString(undefined, { dateStyle: "medium" });
}

/** What an answer took. */
export function foot(response: Response): string {
  return footOf(response, (read, written) => `${count(read)} tokens in, ${count(written)} out`);
}

/** The same in so few words that a narrow side bar has room for them. */
export function shortFoot(response: Response): string {
  return footOf(response, (read, written) => `${shortCount(read)} → ${shortCount(written)} tokens`);
}

function footOf(response: Response, tokens: (read: number, written: number) => string): string {
  if (response.foot) return response.foot;
  const { usage, cost, durationMs } = response;
  const used = usage?.inputTokens || usage?.outputTokens ? tokens(usage.inputTokens, usage.outputTokens) : "";
  return [used, cost && money(cost), durationMs > 0 && duration(durationMs)].filter(Boolean).join(" · ");
}

/** Why an answer ended, where that is not as it should be. */
export const ENDS: Readonly<Record<FinishReason, string>> = {
  stop: "",
  tool_use: "",
  error: "",
  cancelled: "Stopped.",
  length: "Cut off: the model may not write more at once. Ask it to go on.",
  content_filter: "The provider withheld the rest.",
  max_turns: "Stopped after as many turns as the settings allow. Ask it to go on.",
};

export const TOOL_STATES: Readonly<Record<ToolStatus, string>> = {
  pending: "preparing",
  running: "running",
  awaitingPermission: "waits for your permission",
  completed: "done",
  failed: "failed",
  denied: "denied",
};
