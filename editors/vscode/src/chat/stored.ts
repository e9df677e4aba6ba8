/** From a conversation as the server keeps it to one as it is shown. */
import type { ResponseItem, Conversation as KeptConversation, KeptResponse } from "../protocol";
import { blank, type Conversation, type Part, type Response, type ToolPart } from "./conversation";
import { withoutFoot, withoutHead } from "./labels";

/** The whole tree, with its newest branch shown. */
export function restored(kept: KeptConversation): Conversation {
  const responses = kept.responses.map(restoredResponse);
  return { id: kept.id, title: kept.title, model: kept.model ?? "", responses, leaf: responses.at(-1)?.key ?? "" };
}

function restoredResponse(kept: KeptResponse): Response {
  return {
    ...blank(kept.id, kept.parentId ?? ""),
    id: kept.id,
    question: kept.text,
    provider: kept.model.split(":", 1)[0] ?? "",
    model: kept.model,
    ...withoutFoot(parts(kept)),
    finish: kept.finishReason,
    usage: kept.usage,
    cost: kept.cost,
    durationMs: kept.ended === undefined ? 0 : Date.parse(kept.ended) - Date.parse(kept.began),
    isKept: true,
    isRecap: kept.isRecap ?? false,
  };
}

function parts(kept: KeptResponse): readonly Part[] {
  const shown: Part[] = [];
  for (const item of kept.items) add(shown, item, kept.model);
  return shown;
}

function add(shown: Part[], item: ResponseItem, model: string): void {
  switch (item.type) {
    case "text":
      shown.push({ type: "text", text: withoutHead(item.text, model) });
      return;
    case "reasoning":
      shown.push(item);
      return;
    case "toolCall":
      shown.push({ ...toolCall(item.id, title(item.name, item.arguments)), arguments: item.arguments });
      return;
    case "toolResult": {
      const ended = { status: item.isError ? "failed" : "completed", result: item.text } as const;
      const at = shown.findLastIndex((part) => part.type === "toolCall" && part.id === item.id);
      const call = shown[at];
      if (call?.type === "toolCall") shown[at] = { ...call, ...ended };
      else shown.push({ ...toolCall(item.id, item.name), ...ended });
    }
  }
}

function toolCall(id: string, title: string): ToolPart {
  return { type: "toolCall", id, title, kind: "other", arguments: {}, locations: [], status: "failed", result: "" };
}

/** A name and the first thing that it is about: `read_file app.py`. */
function title(name: string, given: Readonly<Record<string, unknown>>): string {
  const first = Object.values(given).find((value) => typeof value === "string");
  return typeof first === "string" ? `${name} ${first.split("\n", 1)[0] ?? ""}` : name;
}
