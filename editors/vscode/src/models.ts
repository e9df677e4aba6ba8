/** Choosing, fetching and deleting models. */
import * as vscode from "vscode";
import type { Model } from "./protocol";
import type { Server } from "./server";
import { shown } from "./shown";

interface ModelEntry extends vscode.QuickPickItem {
  model?: Model;
}

export function registerModels(server: Server): vscode.Disposable {
  const run = (name: string, handler: (argument?: { model?: string }) => Promise<unknown>): vscode.Disposable =>
    vscode.commands.registerCommand(name, (argument?: { model?: string }) => shown(handler(argument)));
  return vscode.Disposable.from(
    run("ollm.models.choose", () => chooseModel(server)),
    run("ollm.models.pull", (argument) => pullModel(server, argument)),
    run("ollm.models.delete", () => deleteModel(server)),
  );
}

/** The rows of the picker: providers as headings, and why a provider has none. */
export async function modelEntries(server: Server): Promise<ModelEntry[]> {
  const { models, errors } = await server.request("ollm/models/list", {});
  const current = server.status?.model;
  const providers = [...new Set(models.map(({ provider }) => provider))];
  return [
    ...providers.flatMap((provider): ModelEntry[] => [
      { label: provider, kind: vscode.QuickPickItemKind.Separator },
      ...models.filter((model) => model.provider === provider).map((model) => entry(model, model.id === current)),
    ]),
    ...errors.flatMap(({ provider, message, remedy }): ModelEntry[] => [
      { label: provider, kind: vscode.QuickPickItemKind.Separator },
      { label: `$(warning) ${message}`, detail: remedy },
    ]),
  ];
}

function entry(model: Model, isCurrent: boolean): ModelEntry {
  const { tools, vision, reasoning } = model.capabilities;
  const facts = [
    ...(model.sizeBytes ? [`${(model.sizeBytes / 1e9).toFixed(1)} GB`] : []),
    ...(model.contextWindow ? [`${model.contextWindow.toLocaleString("en")} tokens`] : []),
    ...(tools ? ["tools"] : []),
    ...(vision ? ["images"] : []),
    ...(reasoning ? ["reasoning"] : []),
  ];
  return { label: `$(${isCurrent ? "check" : "blank"}) ${model.name}`, description: facts.join(" · "), model };
}

async function pick(server: Server, title: string): Promise<Model | undefined> {
  const entries = vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: "Asking for models" },
    () => modelEntries(server),
  );
  return (await vscode.window.showQuickPick(entries, { title, matchOnDescription: true }))?.model;
}

async function chooseModel(server: Server): Promise<void> {
  const model = await pick(server, "ollm: Model for chat and actions");
  if (model)
    await vscode.workspace.getConfiguration("ollm").update("model", model.id, vscode.ConfigurationTarget.Global);
}

async function pullModel(server: Server, argument?: { model?: string }): Promise<unknown> {
  const model =
    argument?.model ??
    (await vscode.window.showInputBox({
      title: "ollm: Fetch a model",
      prompt: "As provider:name",
      value: "ollama:",
      validateInput: (text) => (/^[^:\s]+:\S+$/.test(text) ? undefined : "For example ollama:qwen2.5-coder:7b"),
    }));
  if (!model) return undefined;
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Fetching ${model}`, cancellable: true },
    (progress, token) => {
      let before = 0;
      return server.request(
        "ollm/models/pull",
        { model },
        {
          token,
          onProgress: (message, percentage = before) => {
            progress.report({ message, increment: percentage - before });
            before = percentage;
          },
        },
      );
    },
  );
}

async function deleteModel(server: Server): Promise<void> {
  const model = await pick(server, "ollm: Delete which model?");
  if (!model) return;
  const yes = "Delete";
  const chosen = await vscode.window.showWarningMessage(`Delete ${model.id}?`, { modal: true }, yes);
  if (chosen === yes) await server.request("ollm/models/delete", { model: model.id });
}
