/** The window that the tests of a file look into: opened before the first of them, and drawn when one fails. */
import { afterAll, afterEach, beforeAll } from "vitest";
import { openWindow, type Window } from "../browser/browser";
import { Workbench } from "../browser/workbench";

export const PATIENCE = { timeout: 90_000 };
export let window: Window;
export let bench: Workbench;

beforeAll(async () => {
  window = await openWindow();
  bench = new Workbench(window.page);
  await bench.open();
});
afterEach(async ({ task }) => {
  const picture = process.env["PICTURE"];
  if (task.result?.state === "fail" && picture) await window.page.screenshot({ path: picture });
});
afterAll(() => window.browser.close());
