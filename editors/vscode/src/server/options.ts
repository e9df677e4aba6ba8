/** What of the editor's settings the server gets: those that somebody has set. */
import * as vscode from "vscode";

/** Settings of the extension itself; the server would not know them. */
const OWN = ["server.", "trace.", "chat.view."];

/** The keys of section `ollm` that are the server's, as package.json lists them. */
export function serverKeys(extension: vscode.Extension<unknown>): string[] {
  const { contributes } = extension.packageJSON as {
    contributes: { configuration: { properties: Record<string, unknown> }[] };
  };
  return contributes.configuration
    .flatMap((section) => Object.keys(section.properties))
    .map((key) => key.replace(/^ollm\./, ""))
    .filter((key) => !OWN.some((prefix) => key.startsWith(prefix)));
}

/** A default of the editor must not look like a decision: the user's own file could say otherwise. */
export function setOptions(keys: readonly string[], scope?: vscode.Uri): Record<string, unknown> {
  const settings = vscode.workspace.getConfiguration("ollm", scope);
  const values = keys.flatMap((key): [string, unknown][] => {
    const found = settings.inspect(key);
    const value = found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
    return value === undefined || value === null ? [] : [[key, settings.get(key)]];
  });
  return nested(values);
}

/** `[["a.b", 1]]` as `{ a: { b: 1 } }`. */
export function nested(values: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  for (const [key, value] of values) {
    const names = key.split(".");
    const last = names.pop() ?? key;
    let inner = whole;
    for (const name of names) inner = (inner[name] ??= {}) as Record<string, unknown>;
    inner[last] = value;
  }
  return whole;
}
