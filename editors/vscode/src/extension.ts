/** What VS Code calls: the parts of the extension are put together here. */
import * as vscode from "vscode";
import { registerChat } from "./chat";
import { registerCommands } from "./commands";
import { diagnostics } from "./diagnostics";
import { registerModels } from "./models";
import { registerNative } from "./native";
import { Pages } from "./pages";
import { Permissions, type Ask } from "./permission";
import type { Server } from "./server";
import { ServerProcess } from "./server/client";
import { shown } from "./shown";
import { registerStatus } from "./status";

/** For other extensions, and for tests. */
export interface Exports {
  server: Server & Pick<ServerProcess, "pid" | "start" | "restart">;
}

export function activate(context: vscode.ExtensionContext): Exports {
  const log = vscode.window.createOutputChannel("ollm", { log: true });
  const permissions = new Permissions();
  const ask: Ask = (params, token) => permissions.ask(params, token);
  const pages = new Pages();
  const server = new ServerProcess(context, log, {
    permission: ask,
    diagnostics,
  });
  const chat = registerChat(context, server, ask);
  context.subscriptions.push(
    log,
    permissions,
    pages,
    { dispose: () => server.dispose() },
    chat,
    registerStatus(server),
    registerModels(server),
    registerCommands(server, chat, pages),
    registerNative(server),
    vscode.commands.registerCommand("ollm.server.restart", () => shown(server.restart())),
    vscode.commands.registerCommand("ollm.server.install", () => shown(server.install())),
    vscode.commands.registerCommand("ollm.server.showLog", () => {
      log.show();
    }),
    // In an untrusted workspace the server was told so, and the Python environment was not looked at.
    vscode.workspace.onDidGrantWorkspaceTrust(() => shown(server.restart())),
    server.onDidChangeState((state) => {
      if (state !== "running") permissions.withdraw();
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("ollm.server.path")) void shown(server.restart());
    }),
  );
  server.start().catch((error: unknown) => {
    log.warn(String(error));
  });
  return { server };
}
