/** Draws the main states of the extension into PICTURES, in the theme of the window that runs. */
import * as path from "node:path";
import { openWindow, variable } from "./browser";
import { Workbench } from "./workbench";

const [folder, theme] = [variable("PICTURES"), variable("THEME")];
const { browser, page } = await openWindow(1180, 720);
const bench = new Workbench(page);
const patience = { timeout: 150_000 };

async function draw(name: string): Promise<void> {
  await page.mouse.move(0, 0); // whatever is below it would tell of itself
  await page.addStyleTag({ content: ".cursors-layer { visibility: hidden !important }" });
  await page.screenshot({ path: path.join(folder, `vscode-${name}-${theme}.png`), animations: "disabled" });
}

await bench.open();
await bench.openFile("greeting.py");
let view = await bench.chat();
await bench.ask(view, "What would you test here?");
await view.getByText("The last of them").waitFor(patience);
await bench.settled(view);
await draw("chat");

await bench.ask(view, "Be polite.");
await page.locator(".monaco-diff-editor .line-insert").first().waitFor(patience);
await page.locator(".notification-toast", { hasText: "ollm asks" }).waitFor(patience);
await draw("permission");
await page.keyboard.press("Control+Alt+y");
await view.getByText("That is all.").waitFor(patience);
await draw("changed");

await bench.status("smollm2").click();
await bench.row("Kraken status").waitFor(patience);
await draw("menu");
await page.keyboard.press("Escape");

await bench.newChat(view);
view = await bench.chat();
await bench.ask(view, "/kraken What is 2+2?");
await page.getByText("would be asked").first().waitFor(patience);
await page.locator(".notification-toast", { hasText: "ollm asks" }).waitFor(patience);
await draw("release");
await page.keyboard.press("Control+Alt+y");
await bench.settled(view);
await draw("released");
await browser.close();
