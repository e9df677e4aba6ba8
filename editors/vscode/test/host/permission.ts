/** Questions of the server: what is shown, and what each answer does. The model is a fake that wants to change files. */
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { ChatEvent, ToolStatus } from "../../src/protocol";
import { asked, closeAll, file, isCancelled, openFile, proposed, questionTab, ready, run, TEXT, until } from "./steps";

const POLITE = TEXT.replace("Hello", "Good morning");

interface Chat {
  done: Promise<unknown>;
  stop: vscode.CancellationTokenSource;
  /** How the tool calls ended. */
  calls: () => { status: ToolStatus; result: string }[];
}

async function send(text: string): Promise<Chat> {
  const server = await ready();
  const stop = new vscode.CancellationTokenSource();
  const events: ChatEvent[] = [];
  const done = server.request(
    "ollm/chat/send",
    { text },
    { token: stop.token, onEvent: (event) => events.push(event) },
  );
  done.catch(() => undefined);
  const calls = (): { status: ToolStatus; result: string }[] => {
    const last = new Map<string, { status: ToolStatus; result: string }>();
    for (const event of events)
      if (event.type === "toolCall") last.set(event.id, { status: event.status, result: event.result ?? "" });
    return [...last.values()];
  };
  return { done, stop, calls };
}

export function permission(): void {
  describe("permission", () => {
    beforeEach(async () => {
      await closeAll();
      await openFile();
    });

    afterEach(() => run("ollm.permission.reject"));

    it("shows a change as a diff, makes it after a yes, and tidies up", async () => {
      const chat = await send("Be polite.");
      const shown = await proposed();
      assert.deepEqual(shown, { before: TEXT, after: POLITE, name: "greeting.py" });
      assert.equal((await vscode.workspace.openTextDocument(file())).getText(), TEXT);
      await run("ollm.permission.allow");
      await chat.done;
      assert.equal((await vscode.workspace.openTextDocument(file())).getText(), POLITE);
      assert.deepEqual(
        chat.calls().map(({ status }) => status),
        ["completed"],
      );
      assert.equal(questionTab(), undefined);
    });

    it("takes the answer from the list by the keyboard", async () => {
      const chat = await send("Be polite.");
      await asked();
      await run("ollm.permission.show");
      // The first row is: allow once.
      await pressUntil(chat, "workbench.action.acceptSelectedQuickOpenItem");
      assert.deepEqual(
        chat.calls().map(({ status }) => status),
        ["completed"],
      );
    });

    it("changes nothing after a no", async () => {
      const chat = await send("Be polite.");
      await asked();
      await run("ollm.permission.reject");
      await chat.done;
      assert.equal((await vscode.workspace.openTextDocument(file())).getText(), TEXT);
      assert.deepEqual(
        chat.calls().map(({ status }) => status),
        ["denied"],
      );
    });

    it("tells the model why not", async () => {
      const original = vscode.window.showInputBox;
      const input = vscode.window as { showInputBox: unknown };
      input.showInputBox = () => Promise.resolve("Say Ahoy instead.");
      try {
        const chat = await send("Be polite.");
        await asked();
        await run("ollm.permission.feedback");
        await chat.done;
        assert.equal(chat.calls()[0]?.status, "denied");
        assert.match(chat.calls()[0]?.result ?? "", /Say Ahoy instead\./);
      } finally {
        input.showInputBox = original;
      }
    });

    it("takes a closed diff for a no", async () => {
      const chat = await send("Be polite.");
      const tab = await asked();
      await vscode.window.tabGroups.close(tab);
      await chat.done;
      assert.deepEqual(
        chat.calls().map(({ status }) => status),
        ["denied"],
      );
    });

    it("closes a question that nobody waits for any more", async () => {
      const chat = await send("Be polite.");
      await asked();
      chat.stop.cancel();
      await assert.rejects(chat.done, isCancelled);
      await until(() => questionTab() === undefined, "the end of the question");
      assert.equal((await vscode.workspace.openTextDocument(file())).getText(), TEXT);
    });

    it("closes a question of a server that was killed, and shows none that waited behind it", async () => {
      const server = await ready();
      const chats = await Promise.all([send("Be polite."), send("Be polite.")]);
      await asked();
      await until(() => chats.every((chat) => chat.calls()[0]?.status === "awaitingPermission"), "both questions");
      const before = server.pid;
      assert.ok(before);
      process.kill(before, "SIGKILL");
      for (const chat of chats) await assert.rejects(chat.done);
      await until(() => questionTab() === undefined, "the end of the question");
      await until(() => server.state === "running" && server.pid !== before, "another server");
      assert.equal(questionTab(), undefined);
      assert.equal((await vscode.workspace.openTextDocument(file())).getText(), TEXT);
    });

    it("shows a new file against nothing, and makes it", async () => {
      const chat = await send("Make a file.");
      const shown = await proposed();
      assert.deepEqual(shown, { before: "", after: "print('new')\n", name: "new.py" });
      await run("ollm.permission.allow");
      await chat.done;
      const made = await vscode.workspace.openTextDocument(file("new.py"));
      assert.equal(made.getText(), "print('new')\n");
    });

    it("shows a command as a text", async () => {
      const chat = await send("Run it.");
      const { input } = await asked();
      assert.ok(input instanceof vscode.TabInputText);
      const shown = (await vscode.workspace.openTextDocument(input.uri)).getText();
      assert.match(shown, /hello from a command/);
      await run("ollm.permission.allow");
      await chat.done;
      assert.match(chat.calls()[0]?.result ?? "", /hello from a command/);
    });

    it("tells the model what other extensions have found", async () => {
      const found = vscode.languages.createDiagnosticCollection("other");
      const range = new vscode.Range(2, 4, 2, 10);
      found.set(file(), [new vscode.Diagnostic(range, "a finding of another extension")]);
      try {
        const chat = await send("What is wrong?");
        await chat.done;
        assert.match(chat.calls()[0]?.result ?? "", /a finding of another extension/);
      } finally {
        found.dispose();
      }
    });
  });
}

/** A key press can come before the list has the focus. */
async function pressUntil(chat: Chat, command: string): Promise<void> {
  const pause = (): Promise<boolean> => new Promise((resolve) => setTimeout(resolve, 100, false));
  const done = chat.done.then(() => true);
  do await run(command);
  while (!(await Promise.race([done, pause()])));
}
