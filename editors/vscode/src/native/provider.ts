/** The server's models as language models of the editor, for its own chat and for other extensions. */
import * as vscode from "vscode";
import type { Server } from "../server";
import { ServerError } from "../server";

/** Tokens that are left for an answer, where a model tells only how much it can read. */
const ANSWER_TOKENS = 4096;
const DEFAULT_WINDOW = 8192;
const CHARACTERS_PER_TOKEN = 4;

export class Provider implements vscode.LanguageModelChatProvider, vscode.Disposable {
  private readonly changeEmitter = new vscode.EventEmitter<void>();
  private readonly listener: vscode.Disposable;
  readonly onDidChangeLanguageModelChatInformation = this.changeEmitter.event;

  constructor(private readonly server: Server) {
    this.listener = server.onDidStart(() => {
      this.changeEmitter.fire();
    });
  }

  async provideLanguageModelChatInformation(): Promise<vscode.LanguageModelChatInformation[]> {
    if (this.server.state !== "running") return [];
    const { models } = await this.server.request("ollm/models/list", {});
    return models.map(({ id, provider, name, contextWindow = DEFAULT_WINDOW }) => ({
      id,
      name,
      family: name,
      version: "1",
      tooltip: `${name} by ollm (${provider})`,
      maxInputTokens: Math.max(contextWindow - ANSWER_TOKENS, contextWindow / 2),
      maxOutputTokens: Math.min(ANSWER_TOKENS, contextWindow / 2),
      capabilities: {}, // the server has tools of its own, which ask the user
    }));
  }

  async provideLanguageModelChatResponse(
    model: vscode.LanguageModelChatInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    _options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    let conversationId: string | undefined;
    try {
      await this.server.request(
        "ollm/chat/send",
        // Whoever calls a model has composed what it shall read, and does not expect it to act.
        { text: transcript(messages), model: model.id, tools: false, context: { openBuffers: false } },
        {
          token,
          onProgress: () => undefined,
          onEvent: (event) => {
            if (event.type === "started") conversationId = event.conversationId;
            if (event.type === "text") progress.report(new vscode.LanguageModelTextPart(event.text));
          },
        },
      );
    } catch (error) {
      if (!(error instanceof ServerError && error.isCancelled)) throw error;
    } finally {
      if (conversationId !== undefined) await this.forget(conversationId);
    }
  }

  provideTokenCount(
    _model: vscode.LanguageModelChatInformation,
    text: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    const whole = typeof text === "string" ? text : textOf(text);
    return Promise.resolve(Math.ceil(whole.length / CHARACTERS_PER_TOKEN));
  }

  /** Whoever called keeps what was said. That it could not be deleted is no failure of the answer. */
  private async forget(conversationId: string): Promise<void> {
    await this.server.request("ollm/chat/delete", { conversationId }).catch(() => undefined);
  }

  dispose(): void {
    this.listener.dispose();
    this.changeEmitter.dispose();
  }
}

/** One message is itself; several are told with who said what. A slash at the beginning would be an order to the server. */
export function transcript(messages: readonly vscode.LanguageModelChatRequestMessage[]): string {
  const [only, ...others] = messages;
  const alone = only && others.length === 0 ? textOf(only) : "";
  if (alone.trim() && !alone.trimStart().startsWith("/")) return alone;
  return messages
    .map((message) => {
      const isAssistant = message.role === vscode.LanguageModelChatMessageRole.Assistant;
      return `${isAssistant ? "Assistant" : "User"}: ${textOf(message)}`;
    })
    .join("\n\n");
}

function textOf({ content }: vscode.LanguageModelChatRequestMessage): string {
  return content
    .filter((part): part is vscode.LanguageModelTextPart => part instanceof vscode.LanguageModelTextPart)
    .map(({ value }) => value)
    .join("");
}
