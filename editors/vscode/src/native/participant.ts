/** `@ollm` in the editor's own chat view: the same conversation as anywhere else, shown by the editor. */
import * as vscode from "vscode";
import { unreachable, type ChatContext, type ChatEvent, type ChatSendResult } from "../protocol";
import { ServerError, type Server } from "../server";
import { range } from "../diagnostics";

/** What is kept with an answer, so that the next question goes on with it. */
interface Kept {
  conversationId: string;
  responseId: string;
}

export function participant(server: Server): vscode.Disposable {
  const made = vscode.chat.createChatParticipant("ollm.chat", async (request, context, stream, token) => {
    const kept = lastOf(context);
    try {
      const result = await server.request(
        "ollm/chat/send",
        {
          text: request.command ? `/${request.command} ${request.prompt}`.trim() : request.prompt,
          ...(kept ? { conversationId: kept.conversationId, parentId: kept.responseId } : {}),
          ...(request.model.vendor === "ollm" ? { model: request.model.id } : {}),
          context: contextOf(request.references),
        },
        {
          token,
          onEvent: (event) => {
            show(event, stream);
          },
          onProgress: (message) => {
            if (message) stream.progress(message);
          },
        },
      );
      return { metadata: keptOf(result) };
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      if (error.isCancelled) return {};
      return { errorDetails: { message: error.words } };
    }
  });
  made.iconPath = new vscode.ThemeIcon("sparkle");
  return made;
}

function show(event: ChatEvent, stream: vscode.ChatResponseStream): void {
  switch (event.type) {
    case "text":
      stream.markdown(event.text);
      return;
    case "toolCall":
      if (event.status !== "running") return;
      stream.progress(event.title);
      for (const { uri } of event.locations) stream.reference(vscode.Uri.parse(uri));
      return;
    case "warning":
      stream.progress(event.message);
      return;
    case "escalation":
      stream.progress(`${event.reason} ${event.provider} could be asked.`);
      return;
    case "started":
    case "turn":
    case "reasoning":
    case "usage":
    case "error": // is the error of the request
    case "finished":
      return;
    default:
      unreachable(event);
  }
}

/** The files and selections that the user attached, or the place where they are. */
export function contextOf(references: readonly vscode.ChatPromptReference[]): ChatContext {
  const files: string[] = [];
  let selected: vscode.Location | undefined;
  for (const { value } of references) {
    if (value instanceof vscode.Uri) files.push(value.toString());
    else if (value instanceof vscode.Location) selected = value;
  }
  const editor = vscode.window.activeTextEditor;
  const here = selected ?? (editor && new vscode.Location(editor.document.uri, editor.selection));
  return {
    ...(here ? { uri: here.uri.toString(), range: range(here.range) } : {}),
    ...(files.length ? { files } : {}),
  };
}

function keptOf({ conversationId, responseId }: ChatSendResult): Kept {
  return { conversationId, responseId };
}

function lastOf(context: vscode.ChatContext): Kept | undefined {
  for (const turn of [...context.history].reverse()) {
    const metadata = turn instanceof vscode.ChatResponseTurn ? turn.result.metadata : undefined;
    if (metadata && "conversationId" in metadata) return metadata as unknown as Kept;
  }
  return undefined;
}
