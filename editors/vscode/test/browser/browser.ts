/** A headless Chromium that can reach nothing but this machine. */
import { chromium, type Browser, type Page } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];

export interface Window {
  browser: Browser;
  page: Page;
  /** Hosts that were asked for, and refused. */
  refused: Set<string>;
}

export async function openWindow(width = 1280, height = 800): Promise<Window> {
  const browser = await chromium.launch({ executablePath: variable("CHROMIUM"), args: FLAGS });
  const page = await browser.newPage({ viewport: { width, height } });
  const refused = new Set<string>();
  const isRemote = (url: URL): boolean => url.protocol.startsWith("http") && url.hostname !== "127.0.0.1";
  await page.route(isRemote, (route) => {
    refused.add(new URL(route.request().url()).host);
    return route.abort();
  });
  return { browser, page, refused };
}

export function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`the variable ${name} is not set`);
  return value;
}

/** The address of a folder in the code-server under test. */
export function folderAddress(folder = variable("FOLDER")): string {
  return `${variable("ADDRESS")}/?folder=${encodeURI(folder)}`;
}
