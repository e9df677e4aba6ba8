/** A release to a CLI agent, which is a program that plays a recording. */
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { ChatSendResult, KrakenStatus } from "../../src/protocol";
import { asked, closeAll, openFile, questionTab, ready, run, until } from "./steps";

async function shownText(): Promise<string> {
  const { input } = await asked();
  assert.ok(input instanceof vscode.TabInputText);
  return (await vscode.workspace.openTextDocument(input.uri)).getText();
}

export function kraken(): void {
  describe("kraken", () => {
    beforeEach(async () => {
      await closeAll();
      await openFile();
    });

    it("is ready, and the status bar knows it", async () => {
      const server = await ready();
      await until(() => server.status?.kraken === "ready", "that the Kraken is ready");
      const status = await run<KrakenStatus>("ollm.kraken.status");
      assert.deepEqual(
        status.providers.map(({ name, available }) => ({ name, available })),
        [{ name: "claude", available: true }],
      );
    });

    it("sends nothing after a no", async () => {
      const done = run("ollm.kraken.release", { text: "What is 2+2?" });
      await asked();
      await run("ollm.permission.reject");
      assert.equal(await done, undefined);
      const server = await ready();
      assert.deepEqual(await server.request("ollm/kraken/history", {}), { releases: [] });
    });

    it("shows who is asked, what is shared and what it costs, and brings the answer home", async () => {
      const done = run<ChatSendResult>("ollm.kraken.release", { text: "What is 2+2?" });
      const shown = await shownText();
      for (const words of ["claude", "What is 2+2?", "Cost:", "tokens"]) assert.ok(shown.includes(words), words);
      await run("ollm.permission.allow");
      const result = await done;
      assert.match(result.text, /claude/);
      assert.equal(questionTab(), undefined);
      const server = await ready();
      const { releases } = await server.request("ollm/kraken/history", {});
      assert.deepEqual(
        releases.map(({ provider, success }) => ({ provider, success })),
        [{ provider: "claude", success: true }],
      );
    });

    it("sends what the user made of the briefing", async () => {
      const done = run<ChatSendResult>("ollm.kraken.release", { text: "What is 3+3?" });
      await asked();
      void run("ollm.permission.editBriefing");
      const isBriefing = (): boolean =>
        vscode.window.activeTextEditor?.document.isUntitled === true &&
        vscode.window.activeTextEditor.document.getText().includes("What is 3+3?");
      await until(isBriefing, "the briefing in an editor");
      const edit = new vscode.WorkspaceEdit();
      const document = vscode.window.activeTextEditor?.document;
      assert.ok(document);
      edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), "# Task\n\nChanged by the user.\n");
      await vscode.workspace.applyEdit(edit);
      await run("ollm.permission.useText");
      await until(() => document.isClosed || !vscode.window.activeTextEditor?.document.isUntitled, "its end");
      await run("ollm.permission.allow");
      assert.match((await done).text, /claude/);
    });
  });
}
