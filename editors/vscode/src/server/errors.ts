/** From what a request fails with to words for the user. */
import { ConnectionError, ErrorCodes, LSPErrorCodes, ResponseError } from "vscode-languageclient/node";
import type { ErrorData } from "../protocol";
import { ServerError } from "../server";

/** The library's codes for an answer that cannot come any more, and for what could not even be sent. */
const GONE: ReadonlySet<number> = new Set([
  ErrorCodes.PendingResponseRejected,
  ErrorCodes.ConnectionInactive,
  ErrorCodes.MessageWriteError,
]);

/** The server itself shows why a command fails; `isCommand` tells that it was one. */
export function serverError(error: unknown, isCommand = false): ServerError {
  if (error instanceof ServerError) return error;
  if (isGone(error))
    return new ServerError("ollm-lsp ended while it answered.", "unavailable", "Ask again: it is started again.");
  if (!(error instanceof ResponseError)) return new ServerError(wordsOf(error), "unavailable");
  if (error.code === LSPErrorCodes.RequestCancelled) return new ServerError("Stopped.", "cancelled");
  const data = error.data as Partial<ErrorData> | undefined;
  return new ServerError(
    error.message,
    data?.code ?? "internal",
    data?.remedy ?? "",
    isCommand && data?.code !== undefined,
  );
}

/** Why there is no server, for a user who has been told that there is none. */
export function startError(error: unknown): ServerError {
  const reason = isGone(error) ? "It ended while it started." : wordsOf(error);
  return new ServerError(`ollm-lsp could not be started. ${reason}`, "unavailable", "", true);
}

function isGone(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ResponseError && GONE.has(error.code));
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
