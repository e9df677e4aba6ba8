/** The status bar: model, Kraken, whether something runs, what was spent; a click opens the menu. */
import * as vscode from "vscode";
import type { Server } from "./server";
import { krakenText, shortModel, statusText } from "./words";

export function registerStatus(server: Server): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("ollm.status", vscode.StatusBarAlignment.Right, 100);
  item.name = "ollm";
  item.command = "ollm.menu";
  const update = (): void => {
    const { text, tooltip, isWarning, isError } = statusText(server.state, server.status);
    item.text = text;
    item.tooltip = new vscode.MarkdownString(tooltip);
    item.backgroundColor =
      isWarning || isError
        ? new vscode.ThemeColor(`statusBarItem.${isError ? "error" : "warning"}Background`)
        : undefined;
    item.accessibilityInformation = { label: `ollm: ${tooltip.replaceAll(/[*`]/g, "")}` };
  };
  update();
  item.show();
  return vscode.Disposable.from(
    item,
    server.onStatus(update),
    server.onDidChangeState(update),
    vscode.commands.registerCommand("ollm.menu", () => showMenu(server)),
  );
}

interface Entry extends vscode.QuickPickItem {
  command?: string;
}

async function showMenu(server: Server): Promise<void> {
  const { state, status } = server;
  const line = (label: string): Entry => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const running: Entry[] = [
    { label: "$(comment-discussion) Open chat", command: "ollm.chat.focus" },
    {
      label: "$(symbol-misc) Choose model…",
      description: shortModel(status?.model ?? ""),
      command: "ollm.models.choose",
    },
    { label: "$(cloud-download) Fetch a model…", command: "ollm.models.pull" },
    ...(status?.busy ? [{ label: "$(debug-stop) Stop everything", command: "ollm.cancel" }] : []),
    line("Kraken"),
    {
      label: "$(flame) Kraken status",
      description: status ? krakenText(status.kraken) : "",
      command: "ollm.kraken.status",
    },
    { label: "$(history) Releases", command: "ollm.kraken.history" },
    { label: "$(settings-gear) Open settings file", command: "ollm.kraken.config" },
  ];
  const chosen = await vscode.window.showQuickPick<Entry>(
    [
      ...(state === "running" ? running : []),
      ...(state === "missing" ? [{ label: "$(desktop-download) Install server", command: "ollm.server.install" }] : []),
      line("Server"),
      ...(state === "running" ? [{ label: "$(heart) Check everything", command: "ollm.doctor" }] : []),
      { label: "$(debug-restart) Restart server", command: "ollm.server.restart" },
      { label: "$(output) Show log", command: "ollm.server.showLog" },
    ],
    { title: "ollm" },
  );
  if (chosen?.command) await vscode.commands.executeCommand(chosen.command);
}
