/** How commands fail: in words for the user, and without a result. */
import * as vscode from "vscode";
import { ServerError } from "./server";

/** Shows what nobody has shown yet. Stopping something is no failure. */
export async function shown<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    if (!error.isCancelled && !error.isTold) void vscode.window.showErrorMessage(error.words);
    return undefined;
  }
}
