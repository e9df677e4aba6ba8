/** Where a block of code of an answer belongs in a document. */

export interface Target {
  readonly text: string;
  /** Offsets of the selection; equal where nothing is selected. */
  readonly selection: readonly [number, number];
  /** The definitions of the document, where they are known, by offsets. */
  readonly symbols: readonly { readonly name: string; readonly start: number; readonly end: number }[];
}

export interface Placement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Whether it takes the place of all that is there, which nobody sees at a glance. */
  readonly isRewrite: boolean;
}

/** From this share of common lines on, the code is taken for a new version of the whole document. */
const ALIKE = 0.5;

/**
 * The selection is replaced; else the definition that has the name of the first one in the code; else the whole document
 * where the code looks like a new version of it. Otherwise the code is inserted at the cursor.
 */
export function place(code: string, target: Target): Placement {
  const [start, end] = target.selection;
  if (start !== end) return fitted(code, target.text, start, end);
  const name = firstDefinition(code);
  const named = target.symbols.filter((symbol) => symbol.name === name);
  const [only] = named;
  if (only && named.length === 1 && definitions(code) === 1) return fitted(code, target.text, only.start, only.end);
  if (isNewVersion(code, target.text))
    return { start: 0, end: target.text.length, text: endedLine(code), isRewrite: target.text.trim() !== "" };
  return inserted(code, target);
}

/** At the cursor, or in place of the selection, with the indentation of the line. */
export function inserted(code: string, { text, selection: [start, end] }: Target): Placement {
  return fitted(code, text, start, end);
}

function fitted(code: string, text: string, start: number, end: number): Placement {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const before = text.slice(lineStart, start);
  const isWholeLine = before.trim() === "";
  const indentation = /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? "";
  const wanted = indented(code.replace(/\n+$/, ""), isWholeLine ? indentation : "");
  const closing = text.slice(start, end).endsWith("\n") ? "\n" : "";
  return { start: isWholeLine ? lineStart : start, end, text: wanted + closing, isRewrite: false };
}

function indented(code: string, indentation: string): string {
  const lines = code.split("\n");
  const margins = lines.filter((line) => line.trim()).map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0);
  const margin = Math.min(...margins, Infinity) === Infinity ? 0 : Math.min(...margins);
  return lines.map((line) => (line.trim() ? indentation + line.slice(margin) : "")).join("\n");
}

const DEFINITION =
  /^[ \t]*(?:export\s+|default\s+|pub(?:\([^)]*\))?\s+|public\s+|private\s+|protected\s+|static\s+|abstract\s+|async\s+)*(?:def|class|function\*?|fn|func|interface|struct|enum|trait|type|const|let|var)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)/;

function firstDefinition(code: string): string | undefined {
  for (const line of code.split("\n")) {
    const name = DEFINITION.exec(line)?.[1];
    if (name) return name;
  }
  return undefined;
}

/** How many definitions stand at the outermost margin. */
function definitions(code: string): number {
  const margins = code
    .split("\n")
    .filter((line) => DEFINITION.test(line))
    .map((line) => line.search(/\S/));
  return margins.filter((margin) => margin === Math.min(...margins)).length;
}

function isNewVersion(code: string, text: string): boolean {
  const old = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const fresh = new Set(code.split("\n").map((line) => line.trim()));
  return old.length === 0 || old.filter((line) => fresh.has(line)).length / old.length >= ALIKE;
}

function endedLine(code: string): string {
  return code.endsWith("\n") ? code : `${code}\n`;
}
