/** The messages between the editor and the server, in the log. */
import * as vscode from "vscode";

/**
 * The library traces where the level of a log is Trace, which few know how to set. This one has that level as long as
 * `ollm.trace.server` asks for messages, and writes them where everything else is.
 */
export function traceChannel(log: vscode.LogOutputChannel): vscode.LogOutputChannel {
  return {
    ...log,
    get logLevel() {
      return wantedLevel();
    },
    onDidChangeLogLevel: (listener, self, disposables) =>
      vscode.workspace.onDidChangeConfiguration(
        (change) => {
          if (change.affectsConfiguration("ollm.trace.server")) listener.call(self, wantedLevel());
        },
        undefined,
        disposables,
      ),
    trace: (message) => {
      log.info(message);
    },
  };
}

function wantedLevel(): vscode.LogLevel {
  const wanted = vscode.workspace.getConfiguration("ollm").get<string>("trace.server") ?? "off";
  return wanted === "off" ? vscode.LogLevel.Info : vscode.LogLevel.Trace;
}
