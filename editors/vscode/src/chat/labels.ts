/** The head and the foot that the server writes into the answer of an external provider, for views that have none. */
import type { Part } from "./conversation";

const FOOT = /\n\n---\n\*([^*\n]+ · [\d.,]+ s)\*\s*$/;

/** The text without its head, `**provider** · name`, where that names the model. */
export function withoutHead(text: string, model: string): string {
  const colon = model.indexOf(":");
  const head = `**${model.slice(0, colon)}** · ${model.slice(colon + 1)}\n\n`;
  return text.startsWith(head) ? text.slice(head.length) : text;
}

/** The parts without the foot of the last one, and what that foot says. */
export function withoutFoot(parts: readonly Part[]): { parts: readonly Part[]; foot: string } {
  const last = parts.at(-1);
  const found = last?.type === "text" ? FOOT.exec(last.text) : null;
  if (last?.type !== "text" || !found) return { parts, foot: "" };
  return {
    parts: [...parts.slice(0, -1), { type: "text", text: last.text.slice(0, found.index) }],
    foot: found[1] ?? "",
  };
}
