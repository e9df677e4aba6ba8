/** What all extensions have found in documents, for the model. */
import * as vscode from "vscode";
import type { DiagnosticsParams, DiagnosticsResult, WireDiagnostic } from "./protocol";

export function diagnostics({ uri }: DiagnosticsParams): DiagnosticsResult {
  const of = uri === undefined ? undefined : vscode.Uri.parse(uri);
  const all = of ? [[of, vscode.languages.getDiagnostics(of)] as const] : vscode.languages.getDiagnostics();
  return {
    diagnostics: all.map(([document, found]) => ({ uri: document.toString(), diagnostics: found.map(onWire) })),
  };
}

export function onWire(found: vscode.Diagnostic): WireDiagnostic {
  const code = typeof found.code === "object" ? found.code.value : found.code;
  return {
    range: range(found.range),
    severity: found.severity + 1, // LSP counts from 1
    ...(found.source === undefined ? {} : { source: found.source }),
    ...(code === undefined ? {} : { code }),
    message: found.message,
  };
}

export function range({ start, end }: vscode.Range): WireDiagnostic["range"] {
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}
