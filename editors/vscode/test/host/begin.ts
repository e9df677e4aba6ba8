/** With the real server and the real model: the extension starts, answers, stops, and gets up again. */
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { ChatEvent, ModelsList } from "../../src/protocol";
import { file, isCancelled, openFile, ready, run, until } from "./steps";

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Twice the same would mean that an ended server's are still there. */
async function codeActions(): Promise<{ title: string }[]> {
  await openFile();
  const range = new vscode.Range(0, 0, 2, 5);
  const all = await run<{ title: string }[]>("vscode.executeCodeActionProvider", file(), range);
  return all.filter(({ title }) => title.startsWith("ollm: "));
}

export function begin(): void {
  describe("begin", () => {
    it("starts the server, which tells its status", async () => {
      const server = await ready();
      await until(() => server.status, "a status");
      assert.equal(server.state, "running");
      assert.match(server.status?.model ?? "", /^embedded:/);
      assert.equal(server.status?.kraken, "none");
    });

    it("has every command that it contributes", async () => {
      await ready();
      const known = new Set(await vscode.commands.getCommands(true));
      const { contributes } = vscode.extensions.getExtension("ollm.ollm-lsp")?.packageJSON as {
        contributes: { commands: { command: string }[] };
      };
      const missing = contributes.commands.map(({ command }) => command).filter((command) => !known.has(command));
      assert.deepEqual(missing, []);
    });

    it("streams an answer of the model in several pieces that are the whole", async () => {
      const server = await ready();
      const events: ChatEvent[] = [];
      const result = await server.request(
        "ollm/chat/send",
        { text: "Say hello.", tools: false },
        { onEvent: (event) => events.push(event), onProgress: () => undefined },
      );
      const texts = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
      assert.ok(texts.length > 1, `${texts.length} pieces`);
      assert.equal(texts.join(""), result.text);
      assert.equal(events.at(-1)?.type, "finished");
    });

    it("stops an answer that is no longer wanted", async () => {
      const server = await ready();
      const events: ChatEvent[] = [];
      const stop = new vscode.CancellationTokenSource();
      const answer = server.request(
        "ollm/chat/send",
        { text: "Tell a very long story about a ship.", tools: false },
        {
          token: stop.token,
          onEvent: (event) => {
            events.push(event);
            if (event.type === "text") stop.cancel();
          },
        },
      );
      await assert.rejects(answer, isCancelled);
      await until(() => !server.status?.busy, "the end of the work");
    });

    it("gives the model to the editor and to other extensions, and keeps nothing of it", async () => {
      const server = await ready();
      const kept = async (): Promise<number> => (await server.request("ollm/chat/list", {})).conversations.length;
      const before = await kept();
      const [model] = await vscode.lm.selectChatModels({ vendor: "ollm" });
      assert.ok(model, "no model");
      const ask = async (words: string, isStopped: boolean): Promise<string> => {
        const stop = new vscode.CancellationTokenSource();
        const message = vscode.LanguageModelChatMessage.User(words);
        const response = await model.sendRequest([message], {}, stop.token);
        let text = "";
        for await (const piece of response.text) {
          text += piece;
          if (isStopped) stop.cancel();
        }
        return text;
      };
      assert.ok((await ask("Say hello.", false)).length > 0);
      await until(async () => (await kept()) === before, "the end of the conversation");
      // Whether the editor throws or ends what is stopped is its own affair.
      await ask("Tell a very long story about a ship.", true).catch(() => "");
      await until(() => !server.status?.busy, "the end of the work");
      await until(async () => (await kept()) === before, "the end of the stopped conversation");
    });

    it("explains what is selected", async () => {
      await ready();
      const editor = await openFile();
      editor.selection = new vscode.Selection(0, 0, 2, 0);
      const result = await run<{ text: string; finishReason: string }>("ollm.explain");
      assert.ok(result.text.length > 0);
    });

    it("starts a server again that was killed, and goes on", async () => {
      const server = await ready();
      const before = server.pid;
      assert.ok(before);
      process.kill(before, "SIGKILL");
      await until(
        () => server.state === "running" && server.pid !== undefined && server.pid !== before,
        "another server",
      );
      const { models } = await server.request("ollm/models/list", {});
      assert.ok(models.some(({ provider }) => provider === "embedded"));
    });

    it("answers what is asked while a killed server is started again, with one new server", async () => {
      const server = await ready();
      const before = server.pid;
      assert.ok(before);
      let starts = 0;
      const counting = server.onDidStart(() => starts++);
      process.kill(before, "SIGKILL");
      const asked = new Promise<ModelsList>((resolve, reject) => {
        const ended = server.onDidChangeState((state) => {
          ended.dispose();
          assert.equal(state, "starting");
          server.request("ollm/models/list", {}).then(resolve, reject);
        });
      });
      assert.ok((await asked).models.some(({ provider }) => provider === "embedded"));
      const after = server.pid;
      assert.notEqual(after, before);
      // A second one would have come up by now.
      await server.request("ollm/models/list", {});
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      counting.dispose();
      assert.equal(starts, 1);
      assert.equal(server.pid, after);
      const titles = (await codeActions()).map(({ title }) => title);
      assert.equal(new Set(titles).size, titles.length, titles.join(", "));
    });

    it("is one server after a restart while it starts", async () => {
      const server = await ready();
      const before = server.pid;
      const first = server.restart();
      await until(() => server.pid !== undefined && server.pid !== before, "a process");
      const given = server.pid;
      assert.ok(given);
      await Promise.all([first, server.restart(), server.request("ollm/models/list", {})]);
      assert.equal(server.state, "running");
      assert.notEqual(server.pid, given);
      await until(() => !isAlive(given), "the end of the one that was given up");
    });

    it("restarts the server on demand", async () => {
      const server = await ready();
      const before = server.pid;
      await run("ollm.server.restart");
      assert.equal(server.state, "running");
      assert.notEqual(server.pid, before);
    });
  });
}
