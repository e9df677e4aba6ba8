/** A release to a CLI agent, which is a program that plays a recording. */
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { ChatSendResult, KrakenStatus } from "../../src/protocol";
import { asked, closeAll, openFile, questionTab, ready, run, tabs, until } from "./steps";

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

    for (const [when, finish] of [
      ["when they are done", () => run("ollm.permission.useText")],
      ["when they allow it while they are still at it", () => Promise.resolve()],
    ] as const)
      it(`sends what the user made of the briefing, ${when}`, async () => {
        const done = run<ChatSendResult>("ollm.kraken.release", { text: "What is 3+3?" });
        await asked();
        void run("ollm.permission.editBriefing");
        const document = await briefing();
        const edit = new vscode.WorkspaceEdit();
        edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), "# Task\n\nChanged by the user.\n");
        await vscode.workspace.applyEdit(edit);
        await finish();
        await run("ollm.permission.allow");
        assert.match((await done).text, /claude/);
        await until(() => !tabs().some(({ input }) => isText(input, document.uri)), "the end of the edit");
      });
  });
}

function isText(input: unknown, uri: vscode.Uri): boolean {
  return input instanceof vscode.TabInputText && input.uri.toString() === uri.toString();
}

/** What is shared, in an editor. */
async function briefing(): Promise<vscode.TextDocument> {
  const found = (): vscode.TextDocument | undefined => {
    const document = vscode.window.activeTextEditor?.document;
    return document?.isUntitled && document.getText().includes("What is 3+3?") ? document : undefined;
  };
  await until(found, "the briefing in an editor");
  const document = found();
  assert.ok(document);
  return document;
}
