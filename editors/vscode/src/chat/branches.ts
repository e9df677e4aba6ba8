/** The branches of a conversation: which one is shown, and where the next message goes. */
import type { Conversation, Response } from "./conversation";

/** From the first response to the one at the end of the branch that is shown. */
export function path(conversation: Conversation): readonly Response[] {
  const known = byKey(conversation);
  const steps: Response[] = [];
  for (let step = known.get(conversation.leaf); step; step = known.get(step.parent)) {
    known.delete(step.key);
    steps.push(step);
  }
  return steps.reverse();
}

/** A response and the others that answer in its place, in their order. */
export function alternatives(conversation: Conversation, response: Response): readonly Response[] {
  return conversation.responses.filter(
    (other) => other.parent === response.parent && other.isRecap === response.isRecap,
  );
}

/** The end of the newest branch that goes through a response. */
export function newestLeaf(conversation: Conversation, key: string): string {
  let leaf = key;
  for (let next: Response | undefined; (next = conversation.responses.findLast((child) => child.parent === leaf));)
    leaf = next.key;
  return leaf;
}

/** Where a question goes that was written behind this response: the view may have shown another conversation then. */
export function placeFor({ responses, leaf }: Conversation, key: string): string {
  return key === "" || responses.some((response) => response.key === key) ? key : leaf;
}

/** The server's id for "after this response": the nearest one that it keeps, or empty for the beginning. */
export function parentId(conversation: Conversation, key: string): string {
  const known = byKey(conversation);
  let step = known.get(key);
  while (step && !step.isKept) step = known.get(step.parent);
  return step?.id ?? "";
}

function byKey(conversation: Conversation): Map<string, Response> {
  return new Map(conversation.responses.map((response) => [response.key, response]));
}
