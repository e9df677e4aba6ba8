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
    let begun: Kept | undefined;
    let reached: Kept | undefined;
    const ask = (follows?: Partial<Kept>): Promise<ChatSendResult> =>
      server.request(
        "ollm/chat/send",
        {
          text: request.command ? `/${request.command} ${request.prompt}`.trim() : request.prompt,
          ...(follows?.conversationId && { conversationId: follows.conversationId }),
          ...(follows?.responseId && { parentId: follows.responseId }),
          ...(request.model.vendor === "ollm" ? { model: request.model.id } : {}),
          context: contextOf(request.references),
        },
        {
          token,
          onEvent: (event) => {
            if (event.type === "started") begun = keptOf(event);
            // From here on the server keeps what was said, also of an answer that is stopped.
            if (event.type === "turn") reached = begun;
            show(event, stream);
          },
          onProgress: (message) => {
            if (message) stream.progress(message);
          },
        },
      );
    try {
      const last = lastOf(context);
      const result = await ask(last)
        .catch(ifLost(last, ({ conversationId }) => ask({ conversationId })))
        .catch(
          ifLost(last, () => {
            stream.progress("The server does not have the earlier messages any more.");
            return ask();
          }),
        );
      return { metadata: keptOf(result) };
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      return {
        ...(reached && { metadata: reached }),
        ...(!error.isCancelled && { errorDetails: { message: error.words } }),
      };
    }
  });
  made.iconPath = new vscode.ThemeIcon("sparkle");
  return made;
}

/** Another try, where the server does not know what the question follows: the answer before it, or all of the conversation. */
function ifLost(
  last: Kept | undefined,
  again: (last: Kept) => Promise<ChatSendResult>,
): (error: unknown) => Promise<ChatSendResult> {
  return (error) => {
    if (last && error instanceof ServerError && error.isLost) return again(last);
    throw error;
  };
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

function keptOf({ conversationId, responseId }: Kept): Kept {
  return { conversationId, responseId };
}

function lastOf(context: vscode.ChatContext): Kept | undefined {
  for (const turn of [...context.history].reverse()) {
    const metadata = turn instanceof vscode.ChatResponseTurn ? turn.result.metadata : undefined;
    if (metadata && "conversationId" in metadata) return metadata as unknown as Kept;
  }
  return undefined;
}
