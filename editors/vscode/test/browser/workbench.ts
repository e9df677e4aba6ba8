/** The steps that a person takes in a window of VS Code. */
import type { Frame, Locator, Page } from "playwright-core";
import { folderAddress } from "./browser";

const PATIENCE = { timeout: 90_000 };

export class Workbench {
  constructor(readonly page: Page) {}

  async open(): Promise<void> {
    await this.page.goto(folderAddress());
    await this.page.locator(".monaco-workbench").waitFor(PATIENCE);
    await this.status("smollm2").waitFor(PATIENCE);
  }

  /** Our entry of the status bar. */
  status(text: string): Locator {
    return this.page.locator(".statusbar-item", { hasText: text }).first();
  }

  async openFile(name: string): Promise<void> {
    await this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).first().dblclick(PATIENCE);
    await this.page.locator(".tab", { hasText: name }).first().waitFor(PATIENCE);
    await this.page.locator(".editor-instance .view-lines").first().waitFor(PATIENCE);
  }

  command(title: string): Promise<void> {
    return this.choose(`>${title}`, title);
  }

  /** Whatever the side bar shows. */
  async goToFile(name: string): Promise<void> {
    await this.choose(name, name);
    await this.page.locator(".tab.active", { hasText: name }).first().waitFor(PATIENCE);
  }

  private async choose(words: string, row: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget input.input");
    // Whatever takes the focus closes the palette, and keys would go to it: these words go to the palette or nowhere.
    await this.again(
      async () => {
        await this.page.keyboard.press("F1");
        await input.evaluate(write, words, { timeout: 10_000 }).catch(() => undefined);
      },
      async () => {
        await this.row(row).waitFor({ timeout: 10_000 });
        await input.press("Enter", { timeout: 10_000 });
      },
    );
  }

  /** A row of a list that asks something. */
  row(text: string): Locator {
    return this.page.locator(".quick-input-widget .monaco-list-row", { hasText: text }).first();
  }

  /** The text of the editor at the front. Lines are painted with no-break spaces. */
  async text(): Promise<string> {
    const lines = await this.page.locator(".editor-instance .view-lines").first().innerText();
    return lines.replaceAll("\u00a0", " ");
  }

  async selectAll(): Promise<void> {
    await this.page.locator(".editor-instance .view-line").first().click();
    await this.page.keyboard.press("Control+a");
  }

  async codeAction(title: string): Promise<void> {
    const menu = this.page.locator(".action-widget .monaco-list-row");
    await this.again(
      () => this.page.keyboard.press("Control+."),
      () => menu.first().waitFor({ timeout: 10_000 }),
    );
    await menu.filter({ hasText: title }).first().click(PATIENCE);
  }

  /** The chat view; the focus is in its field. */
  async chat(): Promise<Frame> {
    await this.command("ollm: Focus on Chat View");
    const outer = await this.page.locator("iframe.webview.ready").first().elementHandle(PATIENCE);
    const frame = await outer.contentFrame();
    const inner = await frame?.locator("iframe#active-frame").elementHandle(PATIENCE);
    const view = await inner?.contentFrame();
    if (!view) throw new Error("no chat view");
    await view.getByLabel("Message").focus();
    return view;
  }

  /** A new chat, which the view really shows. */
  async newChat(view: Frame): Promise<void> {
    await this.command("ollm: New Chat");
    await view.getByRole("button", { name: "New chat. Show all conversations" }).waitFor(PATIENCE);
    await view
      .locator(".question-text")
      .first()
      .waitFor({ state: "detached", ...PATIENCE });
  }

  /** Until nothing is answered any more. */
  async settled(view: Frame): Promise<void> {
    await view.getByRole("button", { name: "Send", exact: true }).waitFor(PATIENCE);
  }

  /** The text comes whole: a key is lost while the window moves the focus. */
  async ask(view: Frame, text: string): Promise<void> {
    const field = view.getByLabel("Message");
    const questions = view.locator(".question-text");
    const before = await questions.count();
    await field.fill(text);
    await field.press("Enter");
    // Before, the view does not know that something is answered.
    await questions.nth(before).waitFor({ state: "attached", ...PATIENCE });
  }

  /** A key that is pressed before the window is ready is lost. */
  private async again(press: () => Promise<void>, seen: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await press();
      try {
        await seen();
        return;
      } catch (error) {
        if (attempt === 20) throw error;
      }
    }
  }
}

/** Write into a field as if it had been typed. */
function write(field: SVGElement | HTMLElement, words: string): void {
  (field as HTMLInputElement).value = words;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
