/** From what a request fails with to words for the user. */
import { LSPErrorCodes, ResponseError } from "vscode-languageclient/node";
import type { ErrorData } from "../protocol";
import { ServerError } from "../server";

export function serverError(error: unknown): ServerError {
  if (error instanceof ServerError) return error;
  if (!(error instanceof ResponseError)) return new ServerError(String(error), "unavailable");
  if (error.code === LSPErrorCodes.RequestCancelled) return new ServerError("Stopped.", "cancelled");
  const data = error.data as Partial<ErrorData> | undefined;
  return new ServerError(error.message, data?.code ?? "internal", data?.remedy ?? "");
}
