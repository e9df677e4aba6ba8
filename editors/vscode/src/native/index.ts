/** The editor's own chat: a participant and a provider of models, where the host has them. */
import * as vscode from "vscode";
import type { Server } from "../server";
import { participant } from "./participant";
import { Provider } from "./provider";

export const VENDOR = "ollm";

export function registerNative(server: Server): vscode.Disposable {
  // Other hosts of extensions, such as forks of VS Code, lack parts of these interfaces.
  const host = vscode as Partial<typeof vscode>;
  const disposables: vscode.Disposable[] = [];
  if (host.lm && "registerLanguageModelChatProvider" in host.lm) {
    const provider = new Provider(server);
    disposables.push(provider, vscode.lm.registerLanguageModelChatProvider(VENDOR, provider));
    // The chat view refuses every participant until some model is known.
    disposables.push(server.onDidStart(() => vscode.lm.selectChatModels({ vendor: VENDOR })));
  }
  if (host.chat && "createChatParticipant" in host.chat) disposables.push(participant(server));
  return vscode.Disposable.from(...disposables);
}
