/** Where a range of a document is after the document was edited. */
import type { Position, Range } from "../protocol";

export interface Edit {
  readonly range: Range;
  readonly text: string;
}

/**
 * Each edit is one of what the edit before it left. What takes the place of a part of the range belongs to it, what is
 * inserted at one of its ends does not. Nothing is left of a range whose text was all deleted, but an empty range is a
 * cursor, which is always somewhere.
 */
export function moved(range: Range, edits: readonly Edit[]): Range | undefined {
  return edits.reduce<Range | undefined>((now, edit) => now && movedOnce(now, edit), range);
}

function movedOnce({ start, end }: Range, edit: Edit): Range | undefined {
  const { range: replaced } = edit;
  if (!isBefore(start, replaced.end)) return { start: shifted(start, edit), end: shifted(end, edit) };
  if (!isBefore(replaced.start, end)) return { start, end };
  if (!isBefore(start, end)) return { start: replaced.start, end: replaced.start };
  const first = isBefore(replaced.start, start) ? replaced.start : start;
  const last = shifted(isBefore(end, replaced.end) ? replaced.end : end, edit);
  return isBefore(first, last) ? { start: first, end: last } : undefined;
}

/** The new place of a position that is not before the end of what is replaced. */
function shifted({ line, character }: Position, { range: { start, end }, text }: Edit): Position {
  const lines = text.split(/\r\n|\r|\n/);
  const lastLine = start.line + lines.length - 1;
  if (line !== end.line) return { line: line + lastLine - end.line, character };
  const written = (lines.length === 1 ? start.character : 0) + (lines.at(-1)?.length ?? 0);
  return { line: lastLine, character: written + character - end.character };
}

function isBefore(one: Position, other: Position): boolean {
  return one.line === other.line ? one.character < other.character : one.line < other.line;
}
