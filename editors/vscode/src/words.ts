/** Small texts that several parts show. No editor needed. */
import {
  unreachable,
  type Cost,
  type KrakenState,
  type KrakenStatus,
  type KrakenRelease,
  type Status,
} from "./protocol";
import type { ServerState } from "./server";

export function dollars(amount: number): string {
  return `$${amount.toFixed(amount > 0 && amount < 0.01 ? 4 : 2)}`;
}

export function costText({ amount, known }: Cost): string {
  return known ? dollars(amount) : `up to ${dollars(amount)}, not settled`;
}

/** `provider:name` without the provider, which is in the tooltip. */
export function shortModel(model: string): string {
  return model.slice(model.indexOf(":") + 1);
}

export function krakenText(state: KrakenState): string {
  switch (state) {
    case "ready":
      return "ready";
    case "active":
      return "at work";
    case "over_budget":
      return "over budget";
    case "none":
      return "off";
    default:
      return unreachable(state);
  }
}

/** What the status bar shows of the Kraken; of one that is off, nothing. */
function krakenMark(state: KrakenState): string[] {
  switch (state) {
    case "ready":
      return ["$(flame)"];
    case "active":
      return ["$(sync~spin) Kraken"];
    case "over_budget":
      return ["$(warning) Kraken over budget"];
    case "none":
      return [];
    default:
      return unreachable(state);
  }
}

export interface StatusText {
  text: string;
  tooltip: string;
  isWarning: boolean;
  isError: boolean;
}

/** What the status bar says. */
export function statusText(state: ServerState, status: Status | undefined): StatusText {
  const plain = (text: string, tooltip: string, isError = false): StatusText => ({
    text,
    tooltip,
    isWarning: false,
    isError,
  });
  switch (state) {
    case "starting":
      return plain("$(loading~spin) ollm", "ollm-lsp is starting.");
    case "stopped":
      return plain("$(circle-slash) ollm", "ollm-lsp does not run.");
    case "missing":
      return plain("$(warning) ollm", "ollm-lsp is not installed.", true);
    case "failed":
      return plain("$(error) ollm", "ollm-lsp has ended and is not started again.", true);
    case "running":
      return status ? running(status) : plain("$(sparkle) ollm", "ollm-lsp is ready.");
    default:
      return unreachable(state);
  }
}

function running({ model, busy, kraken, spent, budget, contextTokens, contextLimit }: Status): StatusText {
  const icon = busy ? "$(loading~spin)" : "$(sparkle)";
  const parts = [`${icon} ${shortModel(model) || "no model"}`, ...krakenMark(kraken)];
  if (spent > 0) parts.push(dollars(spent));
  const lines = [
    `**ollm**${busy ? " is at work" : ""}`,
    `Model: \`${model || "none"}\``,
    `Kraken: ${krakenText(kraken)}`,
    `Spent: ${dollars(spent)}${typeof budget === "number" ? ` of ${dollars(budget)}` : ""}`,
  ];
  if (contextTokens !== undefined && contextLimit)
    lines.push(
      `Context: ${Math.round((100 * contextTokens) / contextLimit)} % of ${contextLimit.toLocaleString("en")} tokens`,
    );
  return { text: parts.join(" · "), tooltip: lines.join("\n\n"), isWarning: kraken === "over_budget", isError: false };
}

/** The state of the Kraken, as Markdown. */
export function krakenPage({ state, providers, budget }: KrakenStatus): string {
  const limit =
    budget.limit === null
      ? "no limit"
      : `${dollars(budget.limit)}, of which ${dollars(budget.remaining ?? 0)} are left`;
  const rows = providers.map(
    ({ name, type, model, version, available, error, remedy }) =>
      `| ${cell(name)} | ${type === "cli" ? "agent" : "API"} | ${cell(model)} | ${cell(version ?? "")} | ` +
      `${available ? "available" : cell([error, remedy].filter(Boolean).join(" ") || "not available")} |`,
  );
  return [
    `# The Kraken is ${krakenText(state)}`,
    `Spent ${dollars(budget.spent)}; limit: ${limit}.${budget.reserved > 0 ? ` ${dollars(budget.reserved)} are reserved.` : ""}`,
    ...(rows.length
      ? [["| provider | kind | model | version | |", "| --- | --- | --- | --- | --- |", ...rows].join("\n")]
      : ["No external provider is configured. Run *ollm: Open Settings File* to name some."]),
    "",
  ].join("\n\n");
}

/** Past releases, as Markdown. */
export function historyPage(releases: readonly KrakenRelease[]): string {
  const rows = releases.map(
    ({ timestamp, provider, model, kind, usage, cost, success, error }) =>
      `| ${timestamp.slice(0, 16).replace("T", " ")} | ${cell(provider)} | ${cell(model)} | ` +
      `${usage.inputTokens.toLocaleString("en")} → ${usage.outputTokens.toLocaleString("en")} | ` +
      `${kind === "plan" ? "covered by your plan" : costText(cost)} | ${success ? "done" : cell(error ?? "failed")} |`,
  );
  if (!rows.length) return "# Releases\n\nThere has been none.\n";
  const head = ["| time (UTC) | provider | model | tokens | cost | |", "| --- | --- | --- | --- | --- | --- |"];
  return `# Releases\n\n${[...head, ...rows].join("\n")}\n`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
