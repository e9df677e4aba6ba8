/** What users read of requests and commands that fail. */
import { beforeEach, expect, test, vi } from "vitest";
import {
  ConnectionError,
  ConnectionErrors,
  ErrorCodes,
  LSPErrorCodes,
  ResponseError,
} from "vscode-languageclient/node";
import { ServerError } from "../../src/server";
import { serverError, startError } from "../../src/server/errors";
import { shown } from "../../src/shown";

const messages = vi.hoisted((): string[] => []);
vi.mock("vscode", () => ({ window: { showErrorMessage: (message: string) => messages.push(message) } }));
// The rest of the library wants an editor.
vi.mock("vscode-languageclient/node", () => import("vscode-languageserver-protocol/node"));

beforeEach(() => {
  messages.length = 0;
});

test("an answer that cannot come any more is told in words that help", () => {
  const gone = [
    new ResponseError(ErrorCodes.PendingResponseRejected, "Pending response rejected since connection got disposed"),
    new ResponseError(ErrorCodes.ConnectionInactive, "Client is not running"),
    new ResponseError(ErrorCodes.MessageWriteError, "write EPIPE"),
    new ConnectionError(ConnectionErrors.Closed, "Connection is closed."),
  ];
  for (const error of gone) {
    const { code, words, isTold } = serverError(error);
    expect({ code, words, isTold }).toEqual({
      code: "unavailable",
      words: "ollm-lsp ended while it answered. Ask again: it is started again.",
      isTold: false,
    });
    expect(startError(error).message).toBe("ollm-lsp could not be started. It ended while it started.");
  }
});

test("the server shows itself why a command fails, but not why a request does", () => {
  const failure = new ResponseError(-32000, "Nobody answers.", { code: "connection", remedy: "Start Ollama." });
  expect(serverError(failure, true).isTold).toBe(true);
  expect(serverError(failure).isTold).toBe(false);
  expect(serverError(new ResponseError(ErrorCodes.InternalError, "a bug"), true).isTold).toBe(false);
});

test("a command that fails shows what happened and what helps, once", async () => {
  const failed = (error: unknown): Promise<unknown> => shown(Promise.reject(serverError(error)));
  const failure = new ResponseError(-32000, "Nobody answers.", { code: "connection", remedy: "Start Ollama." });
  expect(await failed(failure)).toBeUndefined();
  expect(messages).toEqual(["Nobody answers. Start Ollama."]);
  await failed(new ResponseError(LSPErrorCodes.RequestCancelled, "cancelled"));
  await failed(new ServerError("Told.", "connection", "", true));
  expect(messages).toHaveLength(1);
  expect(await shown(Promise.resolve(1))).toBe(1);
  await expect(shown(Promise.reject(new TypeError("a bug")))).rejects.toThrow(TypeError);
});
