/** The user's yes or no: one question at a time, each with what it is about beside it. Every doubt is a no. */
import * as path from "node:path";
import * as vscode from "vscode";
import { unreachable, type OptionId, type PermissionParams, type PermissionResult } from "../protocol";
import { allows, no, rows, summary, type Choice, type Row } from "./choices";
import { ProposedDocuments } from "./documents";
import { Exhibit } from "./exhibit";
import { TextEdit } from "./edit";

const ASKING = "ollm.asking";
const RELEASE = "ollm.askingRelease";
const SEVERAL = "ollm.askingSeveral";

/** Shows what may happen, and waits for the user's yes or no. */
export type Ask = Permissions["ask"];

export class Permissions implements vscode.Disposable {
  private readonly documents = new ProposedDocuments();
  private readonly reminder = vscode.window.createStatusBarItem("ollm.permission", vscode.StatusBarAlignment.Left, 98);
  private readonly disposables: vscode.Disposable[];
  private current: Question | undefined;
  /** Counts the servers that have gone: nobody waits for what they asked. */
  private gone = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor() {
    this.reminder.name = "ollm permission";
    this.reminder.command = "ollm.permission.show";
    this.reminder.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    const command = (name: string, run: (question: Question) => unknown): vscode.Disposable =>
      vscode.commands.registerCommand(`ollm.permission.${name}`, () => this.current && run(this.current));
    this.disposables = [
      this.documents,
      this.reminder,
      command("show", async (question) => {
        await question.show({ preserveFocus: false });
        question.ask();
      }),
      // A second press may reach the next question before the user has seen it.
      command("allow", (question) => {
        if (question.isShown) question.answer("allow_once");
      }),
      command("reject", (question) => {
        question.answer("reject_once");
      }),
      command("editBriefing", (question) => question.choose({ kind: "editBriefing" })),
      command("useText", (question) => {
        question.useText();
      }),
      command("someFiles", (question) => question.choose({ kind: "someFiles" })),
      command("feedback", (question) => question.choose({ kind: "feedback" })),
    ];
  }

  /** Ask, after those that were asked before. What has no token is asked by the extension itself, whatever servers do. */
  ask(params: PermissionParams, token?: vscode.CancellationToken): Promise<PermissionResult> {
    const { gone } = this;
    const asked = this.last.then(() =>
      token && gone !== this.gone ? { optionId: no(params.options) } : this.askNow(params, token),
    );
    this.last = asked.catch(() => undefined);
    return asked;
  }

  /** The server has gone: nobody waits for an answer any more. */
  withdraw(): void {
    this.gone += 1;
    if (this.current?.isServers) this.current.answer("reject_once");
  }

  dispose(): void {
    this.withdraw();
    this.current?.answer("reject_once");
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async askNow(params: PermissionParams, token?: vscode.CancellationToken): Promise<PermissionResult> {
    if (token?.isCancellationRequested) return { optionId: no(params.options) };
    const question = new Question(params, token !== undefined, this.documents);
    this.current = question;
    this.reminder.text = `$(question) ollm asks: ${params.title}`;
    this.reminder.tooltip = "Answer the question of ollm";
    this.reminder.show();
    const withdrawn = token?.onCancellationRequested(() => {
      question.answer("reject_once");
    });
    await setContexts({
      [ASKING]: true,
      [RELEASE]: params.briefing !== undefined,
      [SEVERAL]: (params.changes?.length ?? 0) > 1,
    });
    try {
      // Whoever is typing goes on: the keys that answer work everywhere.
      await question.show({ preserveFocus: true });
      question.remind();
      return await question.answered;
    } finally {
      this.current = undefined;
      withdrawn?.dispose();
      this.reminder.hide();
      await setContexts({ [ASKING]: false, [RELEASE]: false, [SEVERAL]: false });
      await question.close();
    }
  }
}

/** Conditions of commands and keys. */
async function setContexts(values: Readonly<Record<string, boolean>>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await vscode.commands.executeCommand("setContext", name, value);
}

class Question {
  private readonly exhibit: Exhibit;
  private pick: vscode.QuickPick<vscode.QuickPickItem & { row?: Row }> | undefined;
  private briefing: string | undefined;
  private editing: Promise<TextEdit> | undefined;
  private edit: TextEdit | undefined;
  private settle: (result: PermissionResult) => void = () => undefined;
  readonly answered = new Promise<PermissionResult>((resolve) => (this.settle = resolve));
  /** Ends what the user is asked in between. */
  private readonly over = new vscode.CancellationTokenSource();

  constructor(
    private readonly params: PermissionParams,
    readonly isServers: boolean,
    documents: ProposedDocuments,
  ) {
    this.exhibit = new Exhibit(documents, params);
    this.exhibit.onDidClose(() => {
      this.answer("reject_once");
    });
  }

  get isShown(): boolean {
    return this.exhibit.isShown;
  }

  /** Show what it is about. The buttons above it answer; the list of all answers would hide it, and comes when asked for. */
  async show(options: { preserveFocus: boolean }): Promise<void> {
    await this.exhibit.show(options);
  }

  /** A message that stays until there is an answer. */
  remind(): void {
    const about = summary(this.params);
    void vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: `ollm asks: ${this.params.title}${about ? ` (${about})` : ""}`,
        cancellable: true,
      },
      async (progress, token) => {
        const key = process.platform === "darwin" ? "⌘⌥" : "Ctrl+Alt+";
        progress.report({
          message: `The buttons above the editor answer: allow (${key}Y), reject (${key}N), and more.`,
        });
        token.onCancellationRequested(() => {
          this.answer("reject_once");
        });
        await this.answered;
      },
    );
  }

  answer(optionId: OptionId, more: Pick<PermissionResult, "feedback" | "changes"> = {}): void {
    const offered = this.params.options.some(({ id }) => id === optionId) ? optionId : no(this.params.options);
    // What the user sees is what is sent, also while they are still at it.
    const briefing = this.edit ? changed(this.edit.text, this.params.briefing) : this.briefing;
    this.settle({ optionId: offered, ...more, ...(allows(offered) && briefing !== undefined && { briefing }) });
    this.over.cancel();
  }

  /** The briefing is as the user wants it. */
  useText(): void {
    this.edit?.finish();
  }

  async choose(choice: Choice): Promise<void> {
    switch (choice.kind) {
      case "answer":
        this.answer(choice.optionId);
        return;
      case "feedback":
        return this.withFeedback();
      case "someFiles":
        return this.someFiles();
      case "editBriefing":
        return this.editBriefing();
      case "review":
        return;
      default:
        unreachable(choice);
    }
  }

  async close(): Promise<void> {
    this.pick?.dispose();
    await this.exhibit.close();
    this.exhibit.dispose();
    this.over.dispose();
  }

  /** The list of all answers. */
  ask(): void {
    if (this.over.token.isCancellationRequested) return;
    this.pick?.dispose();
    const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { row?: Row }>();
    this.pick = pick;
    const about = summary(this.params);
    pick.title = about ? `ollm: ${this.params.title} · ${about}` : `ollm: ${this.params.title}`;
    pick.placeholder = this.placeholder();
    // A click into the diff must not take the answers away.
    pick.ignoreFocusOut = true;
    pick.items = rows(this.params, this.briefing !== undefined).map((row) => ({
      label: `$(${row.icon}) ${row.label}`,
      ...(row.detail === undefined ? {} : { detail: row.detail }),
      row,
    }));
    pick.onDidAccept(() => {
      const row = pick.selectedItems[0]?.row;
      pick.hide();
      if (row) void this.choose(row.choice);
    });
    pick.show();
  }

  private placeholder(): string {
    if (this.params.estimate) return "What will be sent is in the editor below. May it be sent?";
    return this.params.changes?.length ? "The change is in the editor below. May it be made?" : "May this happen?";
  }

  private async withFeedback(): Promise<void> {
    const feedback = await vscode.window.showInputBox(
      {
        title: `ollm: ${this.params.title}`,
        prompt: "What should the model do instead?",
        ignoreFocusOut: true,
      },
      this.over.token,
    );
    if (feedback !== undefined) this.answer("reject_once", { feedback });
  }

  private async someFiles(): Promise<void> {
    const files = (this.params.changes ?? []).map(({ uri, newUri }) => {
      const relative = vscode.workspace.asRelativePath(vscode.Uri.parse(newUri ?? uri));
      return { label: path.posix.basename(relative), description: relative, picked: true, uri };
    });
    const wanted = await vscode.window.showQuickPick(
      files,
      {
        title: "Which of the files may be changed?",
        canPickMany: true,
        ignoreFocusOut: true,
      },
      this.over.token,
    );
    if (!wanted) this.ask();
    else if (wanted.length === 0) this.answer("reject_once");
    else this.answer("allow_once", { changes: wanted.map(({ uri }) => ({ uri })) });
  }

  private async editBriefing(): Promise<void> {
    this.pick?.hide();
    if (this.editing) return (await this.editing).show();
    this.editing = TextEdit.open(this.briefing ?? this.params.briefing ?? "");
    const edit = await this.editing;
    this.edit = edit;
    const answered = this.answered.then(() => "answered" as const);
    const over = await Promise.race([edit.finished.then((text) => ({ text })), answered]);
    if (over !== "answered" && over.text !== undefined) this.briefing = changed(over.text, this.params.briefing);
    this.edit = this.editing = undefined;
    await edit.close();
    if (over !== "answered") this.ask();
  }
}

function changed(text: string, before: string | undefined): string | undefined {
  return text === before ? undefined : text;
}
