/** What stands behind a fence. Models write `python`, `python app.py`, `python title="src/app.py"` or `src/app.py`. */

/** The language, or the ending of the file's name. */
export function languageOf(info: string): string {
  return (/^[\w+#./-]+/.exec(info)?.[0] ?? "").replace(/^.*\./, "").toLowerCase();
}

/** The file that the code belongs to; empty where none is named. */
export function fileOf(info: string): string {
  const named = /(?:^|[\s"'=:])((?:[\w.-]+\/)*[\w-]+\.\w+)["']?\s*$/.exec(info)?.[1] ?? "";
  return named.replace(/^(?:\.\/)+/, "");
}
