/** A newcomer: only the extension is there. It offers to install the server, and then answers. */
import { openWindow, folderAddress } from "./browser";
import { Workbench } from "./workbench";

const patience = { timeout: 400_000 };
const { browser, page } = await openWindow();
const bench = new Workbench(page);
try {
  await page.goto(folderAddress());
  const offer = page.locator(".notification-toast", { hasText: "ollm needs its language server" });
  await offer.getByRole("button", { name: "Install", exact: true }).click(patience);
  await bench.status("smollm2").waitFor(patience);
  const view = await bench.chat();
  await bench.ask(view, "What would you test here?");
  await view.getByText("an empty name").waitFor(patience);
  console.log("installed, and answered");
} catch (error) {
  const picture = process.env["PICTURE"];
  if (picture) await page.screenshot({ path: picture });
  throw error;
} finally {
  await browser.close();
}
