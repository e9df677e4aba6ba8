/** What VS Code calls inside its extension host: runs the suite that SUITE names. */
import { appendFileSync } from "node:fs";
import Mocha from "mocha";
import { actions } from "./actions";
import { begin } from "./begin";
import { kraken } from "./kraken";
import { permission } from "./permission";
import { several } from "./several";

/** Writes down how each test ended, at once: the last line tells where a run hangs. */
class Report extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const file = process.env["REPORT"] ?? "";
    const write = (line: string): void => {
      appendFileSync(file, `${line}\n`);
    };
    runner.on("test", (test) => {
      write(`begun ${test.title}`);
    });
    runner.on("pass", (test) => {
      write(`ok    ${test.title} (${test.duration ?? 0} ms)`);
    });
    runner.on("fail", (test, error) => {
      write(`FAIL  ${test.title}\n${(error as Error).stack ?? String(error)}`);
    });
  }
}

const SUITES: Record<string, () => void> = { begin, actions, permission, several, kraken };

export function run(): Promise<void> {
  const mocha = new Mocha({
    ui: "bdd",
    // Only there to tell what did not happen: nothing that works takes nearly as long.
    timeout: 150_000,
    reporter: Report,
  });
  mocha.suite.emit("pre-require", globalThis, "", mocha);
  const suite = SUITES[process.env["SUITE"] ?? ""];
  if (!suite) throw new Error(`no suite ${process.env["SUITE"] ?? ""}`);
  suite();
  return new Promise((resolve, reject) => {
    mocha.run((failures) => {
      if (failures) reject(new Error(`${failures} failed`));
      else resolve();
    });
  });
}
