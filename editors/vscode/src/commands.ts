/** The server's commands as commands of the editor, which add what the server cannot ask for: a place and words. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { Chat } from "./chat";
import { range } from "./diagnostics";
import type { Pages } from "./pages";
import type { ActionParams, ActionResult, Commands, Place } from "./protocol";
import { SCHEMES, ServerError, type Server } from "./server";
import { shown } from "./shown";
import { historyPage, krakenPage } from "./words";

type Action = "explain" | "fix" | "refactor" | "document" | "tests" | "edit" | "ask";

/** What is asked for before the command is sent. */
const QUESTIONS: Partial<Record<Action, string>> = {
  edit: "What should be changed?",
  ask: "What do you want to know?",
};
const TITLES: Record<Action, string> = {
  explain: "Explain",
  fix: "Fix",
  refactor: "Refactor",
  document: "Document",
  tests: "Write tests for",
  edit: "Edit",
  ask: "About",
};
const ANSWERS: ReadonlySet<Action> = new Set(["explain", "ask"]);

export function registerCommands(server: Server, chat: Chat, pages: Pages): vscode.Disposable {
  // A click in a menu brings the address of the document, which is the active one then.
  const run = (name: string, handler: (argument?: never) => Promise<unknown>): vscode.Disposable =>
    vscode.commands.registerCommand(name, (argument?: unknown) =>
      shown(handler((argument instanceof vscode.Uri ? undefined : argument) as never)),
    );
  const pass = <C extends keyof Commands>(command: C, fill?: () => Commands[C]["params"]): vscode.Disposable =>
    run(command, (argument?: Commands[C]["params"]) => server.execute(command, argument ?? fill?.() ?? {}));
  const actions = (Object.keys(TITLES) as Action[]).map((action) =>
    run(`ollm.${action}`, (argument?: ActionParams) => act(server, chat, action, argument)),
  );
  return vscode.Disposable.from(
    ...actions,
    run("ollm.action", async (given?: ActionParams) => {
      const argument = placed(given);
      return chat.stream(argument.name ?? "Action", about(argument), (options) =>
        server.execute("ollm.action", argument, options),
      );
    }),
    pass("ollm.chat.open", place),
    pass("ollm.chat.send", () => ({ ...chatDocument() })),
    pass("ollm.chat.stop", () => ({ ...chatDocument() })),
    pass("ollm.proposal.accept"),
    pass("ollm.proposal.reject"),
    pass("ollm.proposal.show"),
    pass("ollm.proposal.revert"),
    pass("ollm.models.list"),
    pass("ollm.kraken.config"),
    run("ollm.context.show", async (argument?: Commands["ollm.context.show"]["params"]) => {
      await server.execute("ollm.context.show", argument ?? place());
    }),
    run("ollm.kraken.release", (argument?: Commands["ollm.kraken.release"]["params"]) =>
      release(server, chat, argument),
    ),
    run("ollm.kraken.status", async () => {
      const status = await server.request("ollm/kraken/status", {});
      await pages.show("Kraken", krakenPage(status));
      return status;
    }),
    run("ollm.kraken.history", async (argument?: { limit?: number }) => {
      const history = await server.request("ollm/kraken/history", argument ?? { limit: 200 });
      await pages.show("Releases", historyPage(history.releases));
      return history;
    }),
    run("ollm.cancel", async (argument?: Commands["ollm.cancel"]["params"]) => {
      const result = await server.execute("ollm.cancel", argument ?? {});
      vscode.window.setStatusBarMessage(result.stopped ? "ollm: stopped" : "ollm: nothing runs", 5_000);
      return result;
    }),
    run("ollm.doctor", async () => {
      const { findings } = await server.execute("ollm.doctor", {});
      const marks = { ok: "✓", warning: "⚠", error: "✗" };
      const lines = findings.map(
        ({ subject, level, message, remedy }) =>
          `- ${marks[level]} **${subject}**: ${message}${remedy ? ` ${remedy}` : ""}`,
      );
      await pages.show("Check", `# What ollm found\n\n${lines.join("\n")}\n`);
      return { findings };
    }),
  );
}

async function act(
  server: Server,
  chat: Chat,
  action: Action,
  given?: ActionParams,
): Promise<ActionResult | undefined> {
  const argument = placed(given);
  const question = QUESTIONS[action];
  if (question && argument.text === undefined) {
    const text = await vscode.window.showInputBox({ title: `ollm: ${TITLES[action]}`, prompt: question });
    if (!text?.trim()) return undefined;
    argument.text = text;
  }
  const command = `ollm.${action}` as const;
  if (ANSWERS.has(action)) {
    const name = argument.uri ? path.posix.basename(vscode.Uri.parse(argument.uri).path) : "this";
    const asked = argument.text ?? `${TITLES[action]} ${name}`;
    return chat.stream(asked, about(argument), (options) => server.execute(command, argument, options));
  }
  const result = await server.execute(command, argument);
  if (result.applied === false && result.reason) await vscode.window.showWarningMessage(`ollm: ${result.reason}`);
  return result;
}

async function release(
  server: Server,
  chat: Chat,
  given?: Commands["ollm.kraken.release"]["params"],
): Promise<unknown> {
  let text = given?.text;
  if (given === undefined) {
    text = await vscode.window.showInputBox({
      title: "ollm: Release the Kraken",
      prompt: "What should an external model be asked? You see all that is sent before it is.",
    });
    if (!text?.trim()) return undefined;
  }
  const argument = { ...(given ?? place()), ...(text ? { text } : {}) };
  return chat.stream(text ?? "Release the Kraken on this", about(argument), (options) =>
    server.execute("ollm.kraken.release", argument, options),
  );
}

/**
 * What an action is about: what the server made of the place, in a code action, or where the user is. Without a place it
 * would be done to whatever document the server was told of last.
 */
function placed(given: ActionParams = {}): ActionParams {
  if (given.uri !== undefined) return { ...given };
  const here = place();
  if (here.uri === undefined) {
    const what = vscode.window.activeTextEditor ? "this kind of document" : "what is open here";
    throw new ServerError(`ollm cannot see ${what}.`, "unsupported", "Go to a file or an untitled document.");
  }
  return { ...given, ...here };
}

/** Where the user is, in a document that the server knows. */
function place(): Place {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !SCHEMES.includes(editor.document.uri.scheme)) return {};
  return { uri: editor.document.uri.toString(), range: range(editor.selection) };
}

/** Of what a command gets, what it is about. */
function about({ uri, range }: Place): Place {
  return { ...(uri !== undefined && { uri }), ...(range && { range }) };
}

function chatDocument(): { uri?: string } {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri?.path.endsWith(".ollm.md") ? { uri: uri.toString() } : {};
}
