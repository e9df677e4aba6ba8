/** The built chat view in a browser, with the test in the place of the host. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import type { Conversation } from "../../src/chat/conversation";
import type { FromView, Saved, Surroundings, ToView } from "../../src/chat/messages";
import { page as html } from "../../src/chat/page";
import { THEMES, type ThemeName } from "./themes";

const ORIGIN = "http://view.test";
const DIST = path.join(import.meta.dirname, "../../dist");
const FILES: Readonly<Record<string, readonly [string, string]>> = {
  "/chat.js": ["chat.js", "text/javascript"],
  "/chat.css": ["chat.css", "text/css"],
};

export const SURROUNDINGS: Surroundings = {
  place: { name: "greeting.py", uri: "file:///project/greeting.py", lines: "4–9" },
  isPinned: false,
  isPlaceSent: true,
  files: [],
  model: "ollama:qwen2.5-coder:7b",
  kraken: "ready",
  server: "running",
};

/** Debian's Chromium, or the one that `CHROMIUM` names. */
export function launch(): Promise<Browser> {
  const found = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const executablePath = found.find((candidate) => candidate && existsSync(candidate));
  if (!executablePath) throw new Error("There is no Chromium: install Debian's package chromium, or set CHROMIUM.");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** One browser for all tests of a file. */
export function launched(): () => Browser {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
  return () => browser;
}

export interface OpenOptions {
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly height?: number;
  readonly saved?: Saved;
}

export class ChatPage {
  /** Addresses elsewhere that the page asked for. */
  readonly requested: string[] = [];
  /** Errors and violations of the content security policy. */
  readonly complaints: string[] = [];

  private constructor(readonly page: Page) {}

  static async open(browser: Browser, options: OpenOptions = {}): Promise<ChatPage> {
    const { theme = "dark", width = 400, height = 800, saved } = options;
    const context = await browser.newContext({ viewport: { width, height } });
    const page = await context.newPage();
    const chat = new ChatPage(page);
    await chat.serve(theme);
    page.on("pageerror", (error) => chat.complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") chat.complaints.push(message.text());
    });
    await page.addInitScript(fakeHost, saved);
    await page.goto(`${ORIGIN}/`);
    await page.waitForSelector(".composer");
    return chat;
  }

  /** Tell the view something, as the host does. */
  async tell(...messages: readonly ToView[]): Promise<void> {
    await this.page.evaluate((told) => {
      for (const message of told) window.postMessage(message, "*");
    }, messages as ToView[]);
  }

  async show(conversation: Conversation, isRunning = false): Promise<void> {
    await this.tell(
      { type: "surroundings", surroundings: SURROUNDINGS },
      { type: "conversation", conversation, isRunning },
    );
    await this.settle();
  }

  /** What the view told of this kind. */
  async told<T extends FromView["type"]>(type: T): Promise<Extract<FromView, { type: T }>[]> {
    const all = await this.page.evaluate(() => (window as unknown as { told: FromView[] }).told);
    return all.filter((message): message is Extract<FromView, { type: T }> => message.type === type);
  }

  async saved(): Promise<Saved> {
    return this.page.evaluate(() => (window as unknown as { saved: Saved }).saved);
  }

  /** Wait until nothing is left to be rendered or coloured. */
  async settle(): Promise<void> {
    await this.page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          let quiet = 0;
          const observer = new MutationObserver(() => (quiet = 0));
          observer.observe(document.body, { subtree: true, childList: true, characterData: true });
          const look = (): void => {
            quiet += 1;
            if (quiet > 5) resolve();
            else requestAnimationFrame(() => requestIdleCallback(look));
          };
          look();
        }),
    );
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  private async serve(theme: ThemeName): Promise<void> {
    await this.page.route("**/*", async (route) => {
      const url = new URL(route.request().url());
      const file = FILES[url.pathname];
      if (url.origin !== ORIGIN) {
        this.requested.push(url.href);
        await route.abort();
      } else if (file) await route.fulfill({ body: readFileSync(path.join(DIST, file[0])), contentType: file[1] });
      else if (url.pathname === "/") await route.fulfill({ body: themed(theme), contentType: "text/html" });
      else await route.fulfill({ status: 404 });
    });
  }
}

/** The page as in VS Code, but stricter: even code of ours may not turn a text into HTML. */
function themed(theme: ThemeName): string {
  const { bodyClass, colours } = THEMES[theme];
  const variables = Object.entries(colours).map(([name, value]) => `--vscode-${name}: ${value}`);
  return html({ script: "/chat.js", style: "/chat.css", source: "'self'", nonce: "test" })
    .replace(
      "default-src 'none';",
      "default-src 'none'; require-trusted-types-for 'script'; style-src-attr 'unsafe-inline';",
    )
    .replace("<html", `<html style="${variables.join("; ").replaceAll('"', "'")}"`)
    .replace("<body>", `<body class="${bodyClass}">`);
}

function fakeHost(saved: Saved | undefined): void {
  const host = window as unknown as { told: FromView[]; saved: Saved | undefined; acquireVsCodeApi: () => unknown };
  host.told = [];
  host.saved = saved;
  host.acquireVsCodeApi = () => ({
    postMessage: (message: FromView) => host.told.push(message),
    getState: () => host.saved,
    setState: (state: Saved) => (host.saved = state),
  });
}
