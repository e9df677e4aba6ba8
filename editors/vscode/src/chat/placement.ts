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

const MODIFIERS = String.raw`export|default|declare|pub(?:\([^)]*\))?|public|private|protected|internal|static|readonly|abstract|async`;
const KEYWORDS = String.raw`def|class|function\*?|fn|func|interface|struct|enum|trait|type|const|let|var`;
const DEFINITION = new RegExp(
  String.raw`^[ \t]*(?:(?:${MODIFIERS})\s+)*(?:${KEYWORDS})\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)`,
);
/** What may stand in a line before that which the editor takes for the beginning of a definition, and behind its end. */
const LEAD = new RegExp(String.raw`^[ \t]*(?:(?:${MODIFIERS}|${KEYWORDS})\s+)*$`);
const REST = /^;?[ \t]*(?:$|[\r\n]|\/\/|\/\*|#)/;

/**
 * The selection is replaced; else the definition that has the name of the first one in the code; else the whole document
 * where the code looks like a new version of it. Otherwise the code is inserted at the cursor.
 */
export function place(code: string, target: Target): Placement {
  const [start, end] = target.selection;
  if (start !== end) return fitted(code, target.text, start, end);
  const name = firstDefinition(code);
  const named = target.symbols.filter((symbol) => symbol.name === name);
  const [only] = named.length === 1 && definitions(code) === 1 ? named : [];
  const whole = only && wholeDefinition(code, target.text, only);
  if (whole) return fitted(code, target.text, ...whole);
  if (isNewVersion(code, target.text)) {
    const text = withLineEnds(endedLine(code), target.text);
    return { start: 0, end: target.text.length, text, isRewrite: target.text.trim() !== "" };
  }
  return inserted(code, target);
}

/**
 * From its keywords to its semicolon, which some servers leave out. Nothing where it shares its lines with something else.
 */
function wholeDefinition(
  code: string,
  text: string,
  { start, end }: Target["symbols"][number],
): [number, number] | undefined {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const isAlone = LEAD.test(text.slice(lineStart, start)) && (text[end - 1] === "\n" || REST.test(text.slice(end)));
  if (!isAlone) return undefined;
  const hasOwnSemicolon = code.trimEnd().endsWith(";") && text[end] === ";";
  return [lineStart + indentationOf(text.slice(lineStart)).length, hasOwnSemicolon ? end + 1 : end];
}

/** At the cursor, or in place of the selection, with the indentation of the line. */
export function inserted(code: string, { text, selection: [start, end] }: Target): Placement {
  return fitted(code, text, start, end);
}

function fitted(code: string, text: string, start: number, end: number): Placement {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const before = text.slice(lineStart, start);
  const isWholeLine = before.trim() === "";
  const indentation = indentationOf(text.slice(lineStart));
  const wanted = indented(code.replace(/\n+$/, ""), isWholeLine ? indentation : "");
  const closing = text.slice(start, end).endsWith("\n") ? "\n" : "";
  const written = withLineEnds(wanted + closing, text);
  return { start: isWholeLine ? lineStart : start, end, text: written, isRewrite: false };
}

/** As the document ends its lines, so that what is written is as long as it will be there. */
function withLineEnds(code: string, text: string): string {
  return text.includes("\r\n") ? code.replaceAll(/\r?\n/g, "\r\n") : code;
}

function indentationOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function indented(code: string, indentation: string): string {
  const lines = code.split("\n");
  const margins = lines.filter((line) => line.trim()).map((line) => indentationOf(line).length);
  const margin = Math.min(...margins, Infinity) === Infinity ? 0 : Math.min(...margins);
  return lines.map((line) => (line.trim() ? indentation + line.slice(margin) : "")).join("\n");
}

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
