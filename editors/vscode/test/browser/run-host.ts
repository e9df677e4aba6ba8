/** Runs a suite of test/host inside the extension host of a real VS Code; the status is the suite's. */
import { existsSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { folderAddress, openWindow, variable } from "./browser";

const extension = path.resolve(".");
const { browser, page } = await openWindow();
const exit = new Promise<number>((resolve) => {
  // The workbench calls these two when it runs tests of extensions.
  void page.exposeFunction("codeAutomationExit", resolve);
  void page.exposeFunction("codeAutomationLog", (kind: string, words: unknown[]) => {
    if (process.env["VERBOSE"]) console.log(kind, ...words);
  });
});
// A built product takes no tests from the address, so they go into the configuration that the page carries.
await page.addInitScript(
  ({ authority, extensionPath, testsPath }) => {
    const address = (file: string): object => ({ scheme: "vscode-remote", authority, path: file });
    const observer = new MutationObserver(() => {
      const element = document.getElementById("vscode-workbench-web-configuration");
      const settings = element?.getAttribute("data-settings");
      if (!element || !settings) return;
      observer.disconnect();
      const changed = JSON.parse(settings) as { developmentOptions?: object };
      changed.developmentOptions = {
        ...changed.developmentOptions,
        extensions: [address(extensionPath)],
        extensionTestsPath: address(testsPath),
      };
      element.setAttribute("data-settings", JSON.stringify(changed));
    });
    observer.observe(document, { childList: true, subtree: true });
  },
  {
    authority: new URL(variable("ADDRESS")).host,
    extensionPath: extension,
    testsPath: path.join(extension, "out", "host.js"),
  },
);
await page.goto(folderAddress());
const limit = new Promise<number>((resolve) =>
  setTimeout(
    () => {
      resolve(124);
    },
    Number(process.env["TIME_LIMIT"] ?? 500) * 1000,
  ),
);
const status = await Promise.race([exit, limit]);
if (status !== 0 && process.env["PICTURE"]) await page.screenshot({ path: process.env["PICTURE"] });
await browser.close();

const file = variable("REPORT");
console.log(existsSync(file) ? readFileSync(file, "utf8") : "no test has run");
process.exit(status);
