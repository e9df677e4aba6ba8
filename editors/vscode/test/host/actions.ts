/** Code actions of a document, with a fake model that answers with code. */
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { ActionResult } from "../../src/protocol";
import { closeAll, file, openFile, proposed, ready, run, TEXT, until } from "./steps";

const POLITE = TEXT.replace("Hello", "Good morning");

async function offered(range: vscode.Range): Promise<vscode.CodeAction[]> {
  const all = await run<(vscode.CodeAction | vscode.Command)[]>("vscode.executeCodeActionProvider", file(), range);
  return all.filter((action): action is vscode.CodeAction => action.title.startsWith("ollm: "));
}

export function actions(): void {
  describe("actions", () => {
    beforeEach(async () => {
      await closeAll();
      await ready();
      await openFile();
    });

    it("offers what can be done with a selection", async () => {
      const titles = (await offered(new vscode.Range(0, 0, 2, 5))).map(({ title }) => title);
      for (const word of ["Explain", "Refactor", "Document", "tests", "Edit"])
        assert.ok(
          titles.some((title) => title.includes(word)),
          `${word} in ${titles.join(", ")}`,
        );
    });

    it("offers to explain where the light bulb shows it", async () => {
      const kinds = (await offered(new vscode.Range(0, 0, 2, 5)))
        .filter(({ title }) => title.includes("Explain"))
        .map(({ kind }) => kind?.value);
      assert.deepEqual(kinds, ["ollm"]);
    });

    it("fixes what another extension has found, after a yes", async () => {
      const found = vscode.languages.createDiagnosticCollection("other");
      const range = new vscode.Range(2, 4, 2, 10);
      found.set(file(), [new vscode.Diagnostic(range, "too familiar")]);
      try {
        const fix = (await offered(range)).find(({ title }) => title === "ollm: Fix: too familiar");
        assert.ok(fix?.command, "no such action");
        const { command, arguments: args = [] } = fix.command;
        const done = run<ActionResult>(command, ...(args as unknown[]));
        assert.equal((await proposed()).after, POLITE);
        await run("ollm.permission.allow");
        assert.equal((await done).applied, true);
        assert.equal((await vscode.workspace.openTextDocument(file())).getText(), POLITE);
      } finally {
        found.dispose();
      }
    });

    it("answers as @ollm in the editor's own chat, where the conversation goes on", async () => {
      const server = await ready();
      const found = async (): Promise<string | undefined> => {
        const { conversations } = await server.request("ollm/chat/list", {});
        return conversations.find(({ title }) => title === "Is this polite?")?.id;
      };
      const id = "ollama:smollm2:135m";
      // Of several models that fit, the editor would take the embedded one, which may talk for minutes.
      const modelSelector = { vendor: "ollm", id };
      await run("workbench.action.chat.open", { query: "@ollm Is this polite?", mode: "ask", modelSelector });
      await until(found, "a conversation");
      await until(() => !server.status?.busy, "the end of the answer");
      const { responses } = await server.request("ollm/chat/get", { conversationId: (await found()) ?? "" });
      assert.deepEqual(
        responses.map(({ model }) => model),
        [id],
      );
    });

    it("can take back what was changed", async () => {
      const done = run<ActionResult>("ollm.edit", { uri: file().toString(), text: "Be polite." });
      await proposed();
      await run("ollm.permission.allow");
      await done;
      await run("ollm.proposal.revert");
      assert.equal((await vscode.workspace.openTextDocument(file())).getText(), TEXT);
    });

    it("shows the state of everything", async () => {
      const { findings } = await run<{ findings: { subject: string }[] }>("ollm.doctor");
      assert.ok(findings.length > 0);
    });
  });
}
