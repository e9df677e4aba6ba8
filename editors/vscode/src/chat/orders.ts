/** The orders that a message may begin with, and the mentions that may be in it, as docs/chat.md has them. */
import type { Suggestion } from "./messages";

const ORDERS = [
  ["/explain", "explains the selection, or the document"],
  ["/fix", "proposes a fix for the selection and its diagnostics"],
  ["/tests", "writes tests for the selection, or the document"],
  ["/kraken", "releases the Kraken: asks an external provider"],
  ["/kraken status", "tells of the external providers and the budget"],
  ["/kraken history", "tells what external providers were used for"],
  ["/kraken config", "opens your settings file"],
  ["/context", "shows what would be sent along with a question"],
  ["/model", "tells the model of this conversation, or changes it"],
  ["/compact", "summarises the conversation so far"],
  ["/cost", "tells the tokens and the cost of this conversation"],
  ["/help", "lists the orders"],
] as const;

const MENTIONS = [
  ["#selection", "what is selected in the active document"],
  ["#buffer", "the active document, all of it"],
  ["#diagnostics", "all diagnostics of the active document"],
] as const;

/** How many files are suggested. */
const MOST_FILES = 20;

/** What may be meant by a word that begins with `/`, `#` or `@`. `files` gives paths of the workspace. */
export async function suggest(word: string, files: () => Promise<readonly string[]>): Promise<readonly Suggestion[]> {
  if (word.startsWith("/")) return fixed(ORDERS, word);
  const typed = word.replace(/^[#@](file:"?)?/i, "");
  const mentions = /^[#@]file:/i.test(word) ? [] : fixed(MENTIONS, `#${typed}`);
  return [...mentions, ...nearest(await files(), typed).map(mention)];
}

function fixed(known: readonly (readonly [string, string])[], word: string): readonly Suggestion[] {
  return known
    .filter(([label]) => label.startsWith(word.toLowerCase()))
    .map(([label, detail]) => ({ insert: `${label} `, label, detail }));
}

function mention(path: string): Suggestion {
  const name = path.split("/").at(-1) ?? path;
  return { insert: `#file:${/\s/.test(path) ? `"${path}"` : path} `, label: name, detail: path };
}

/** Those whose name begins with what was typed come before those that hold it anywhere. */
function nearest(paths: readonly string[], typed: string): readonly string[] {
  const low = typed.toLowerCase();
  const ranked = paths.flatMap((path) => {
    const place = path.toLowerCase().indexOf(low);
    if (place < 0) return [];
    const name = path.toLowerCase().lastIndexOf("/") + 1;
    return [{ path, rank: path.toLowerCase().startsWith(low, name) ? 0 : place >= name ? 1 : 2 }];
  });
  return ranked
    .sort((one, other) => one.rank - other.rank || one.path.length - other.path.length)
    .slice(0, MOST_FILES)
    .map(({ path }) => path);
}
