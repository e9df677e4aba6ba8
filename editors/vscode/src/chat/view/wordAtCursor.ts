/** The word that is being typed, where it asks for suggestions: an order at the beginning, or a mention. */

export interface TypedWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** `/` counts only as the first thing that is written; `#` and `@` count everywhere between blanks. */
export function wordAtCursor(text: string, cursor: number): TypedWord | null {
  const start = text.slice(0, cursor).search(/\S*$/);
  const word = text.slice(start, cursor);
  const isOrder = word.startsWith("/") && text.slice(0, start).trim() === "";
  return isOrder || /^[#@]/.test(word) ? { text: word, start, end: cursor } : null;
}
