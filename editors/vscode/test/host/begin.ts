/** With the real server and the real model: the extension starts, answers, stops, and gets up again. */
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { ChatEvent } from "../../src/protocol";
import { isCancelled, openFile, ready, run, until } from "./steps";

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
      // Exists while a briefing is edited.
      assert.deepEqual(missing, ["ollm.permission.useText"]);
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

    it("gives the model to the editor and to other extensions", async () => {
      await ready();
      const [model] = await vscode.lm.selectChatModels({ vendor: "ollm" });
      assert.ok(model, "no model");
      const token = new vscode.CancellationTokenSource().token;
      const response = await model.sendRequest([vscode.LanguageModelChatMessage.User("Say hello.")], {}, token);
      let text = "";
      for await (const piece of response.text) text += piece;
      assert.ok(text.length > 0);
      const server = await ready();
      const { conversations } = await server.request("ollm/chat/list", {});
      assert.ok(!conversations.some(({ title }) => title === "User: Say hello."));
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

    it("restarts the server on demand", async () => {
      const server = await ready();
      const before = server.pid;
      await run("ollm.server.restart");
      assert.equal(server.state, "running");
      assert.notEqual(server.pid, before);
    });
  });
}
