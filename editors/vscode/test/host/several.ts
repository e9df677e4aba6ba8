/** A proposal with several files. An agent makes it: a program that plays a part. */
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { ChatSendResult } from "../../src/protocol";
import { closeAll, file, openFile, run, tabs, TEXT, until } from "./steps";

const OTHER = "other.py";
const BEFORE = "VALUE = 1\n";
const AFTER = "VALUE = 2\n";
const GREETED = TEXT.replace("Grüße, wie es sich gehört.", "Greet.");

async function texts(): Promise<[string, string]> {
  const [greeting, other] = await Promise.all(
    [file(), file(OTHER)].map((uri) => vscode.workspace.openTextDocument(uri)),
  );
  return [greeting?.getText() ?? "", other?.getText() ?? ""];
}

function shown(): vscode.Tab | undefined {
  return tabs().find(({ label }) => label.startsWith("ollm: "));
}

async function proposed(): Promise<{ done: Thenable<ChatSendResult>; tab: vscode.Tab }> {
  const done = run<ChatSendResult>("ollm.kraken.release", { text: "Mend both." });
  await until(shown, "a diff of several files");
  const tab = shown();
  assert.ok(tab);
  return { done, tab };
}

export function several(): void {
  describe("several", () => {
    beforeEach(async () => {
      await closeAll();
      await openFile(OTHER, BEFORE);
      await openFile();
    });

    it("shows all files in one editor, makes all changes after a yes, and tidies up", async () => {
      const { done, tab } = await proposed();
      assert.match(tab.label, /greeting\.py, other\.py/);
      assert.deepEqual(await texts(), [TEXT, BEFORE]);
      await run("ollm.permission.allow");
      assert.match((await done).text, /Changed: greeting\.py, other\.py/);
      assert.deepEqual(await texts(), [GREETED, AFTER]);
      assert.equal(shown()?.label, undefined);
    });

    it("makes only the changes that were chosen", async () => {
      const window = vscode.window as { showQuickPick: unknown };
      const original = vscode.window.showQuickPick;
      const { done } = await proposed();
      const offered: string[] = [];
      window.showQuickPick = (items: { label: string; picked: boolean }[]) => {
        offered.push(...items.filter(({ picked }) => picked).map(({ label }) => label));
        return Promise.resolve(items.filter(({ label }) => label === OTHER));
      };
      try {
        await run("ollm.permission.someFiles");
        assert.match((await done).text, /Changed: other\.py/);
      } finally {
        window.showQuickPick = original;
      }
      assert.deepEqual(offered.sort(), ["greeting.py", OTHER]);
      assert.deepEqual(await texts(), [TEXT, AFTER]);
      assert.equal(shown()?.label, undefined);
    });

    it("takes a closed editor for a no", async () => {
      const { done, tab } = await proposed();
      await vscode.window.tabGroups.close(tab);
      await done;
      assert.deepEqual(await texts(), [TEXT, BEFORE]);
    });
  });
}
