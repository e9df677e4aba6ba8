/** Install the server into an environment of the extension's own, with the user's Python. */
import { execFile, spawn } from "node:child_process";
import * as readline from "node:readline";
import { promisify } from "node:util";
import * as vscode from "vscode";
import type { Environments } from "./environments";
import { programOf } from "./locate";
import { activePython } from "./python";

const run = promisify(execFile);
const OLDEST = [3, 11] as const;
/** Where `python3` is too old, a newer one often has only its full name. */
const PYTHONS = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];

/** Whether it was installed. The user is told when it could not be. */
export async function installServer(environments: Environments, log: vscode.LogOutputChannel): Promise<boolean> {
  const python = await newEnoughPython();
  if (!python) {
    void vscode.window.showErrorMessage(
      `ollm needs Python ${OLDEST.join(".")} or newer. Install it, then run "ollm: Install Server" again.`,
    );
    return false;
  }
  const wanted = vscode.workspace.getConfiguration("ollm").get<string>("server.package") ?? "ollm-lsp[embedded]";
  try {
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: "Installing ollm-lsp", cancellable: true },
      (progress, token) =>
        environments.renew(async (environment) => {
          const program = (name: string): string => programOf(environment, process.platform, name);
          const pip = [program("python"), "-m", "pip", "--disable-pip-version-check"];
          progress.report({ message: "making a Python environment" });
          await logged([python, "-m", "venv", environment], log, token);
          progress.report({ message: `installing ${wanted}, which may take some minutes` });
          await logged([...pip, "install", "--upgrade", wanted], log, token);
          // The setting may name a package that has no server in it.
          await logged([program("ollm-lsp"), "--version"], log, token);
        }),
    );
    return true;
  } catch (error) {
    if (error instanceof vscode.CancellationError) return false;
    log.error(String(error));
    const show = "Show Log";
    void vscode.window
      .showErrorMessage("ollm-lsp could not be installed. The log has the reason.", show)
      .then((chosen) => {
        if (chosen === show) log.show();
      });
    return false;
  }
}

async function newEnoughPython(): Promise<string | undefined> {
  const chosen = await activePython();
  const names = process.platform === "win32" ? ["python", "py"] : PYTHONS;
  const check = `import sys; sys.exit(sys.version_info < (${OLDEST.join(", ")}))`;
  for (const candidate of [...(chosen ? [chosen] : []), ...names]) {
    try {
      await run(candidate, ["-c", check]);
      return candidate;
    } catch {
      continue; // not there, or too old
    }
  }
  return undefined;
}

function logged(command: string[], log: vscode.LogOutputChannel, token: vscode.CancellationToken): Promise<void> {
  const [program = "", ...args] = command;
  log.info(`$ ${command.join(" ")}`);
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    const stop = token.onCancellationRequested(() => child.kill());
    for (const stream of [child.stdout, child.stderr])
      readline.createInterface({ input: stream }).on("line", (line) => {
        log.info(line);
      });
    child.on("error", reject);
    child.on("close", (status) => {
      stop.dispose();
      if (token.isCancellationRequested) reject(new vscode.CancellationError());
      else if (status === 0) resolve();
      else reject(new Error(`${program} ended with status ${status ?? "of a signal"}`));
    });
  });
}
