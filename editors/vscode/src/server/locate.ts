/** Where ollm-lsp is: the setting, the active Python environment, PATH, the extension's own environment. */
import * as path from "node:path";

export type Source = "setting" | "python" | "path" | "private";

export interface Found {
  command: string;
  source: Source;
}

/** What is asked of the machine and the editor, so that tests can answer. */
export interface Surroundings {
  platform: NodeJS.Platform;
  home: string;
  /** `ollm.server.path`, or empty. */
  setting: string;
  /** The active environment's Python, if an extension knows one and the workspace is trusted. */
  python: () => Promise<string | undefined>;
  /** The variable PATH. */
  path: string;
  privateEnvironment: string;
  exists: (file: string) => Promise<boolean>;
}

/** The setting names a file that is not there: nothing else is tried, because somebody meant that one. */
export class WrongSetting extends Error {
  constructor(readonly file: string) {
    super(`The setting ollm.server.path names ${file}, which is not there.`);
  }
}

export async function locate(around: Surroundings): Promise<Found | undefined> {
  const files = around.platform === "win32" ? path.win32 : path.posix;
  const program = around.platform === "win32" ? "ollm-lsp.exe" : "ollm-lsp";
  if (around.setting) {
    const command = around.setting.replace(/^~(?=[\\/])/, around.home);
    if (!(await around.exists(command))) throw new WrongSetting(command);
    return { command, source: "setting" };
  }
  const python = await around.python();
  const candidates: Found[] = [
    ...(python ? [{ command: files.join(files.dirname(python), program), source: "python" as const }] : []),
    // A relative entry would mean a program of whatever folder is open.
    ...around.path
      .split(files.delimiter)
      .filter((folder) => files.isAbsolute(folder))
      .map((folder) => ({ command: files.join(folder, program), source: "path" as const })),
    { command: programOf(around.privateEnvironment, around.platform, "ollm-lsp"), source: "private" },
  ];
  for (const candidate of candidates) if (await around.exists(candidate.command)) return candidate;
  return undefined;
}

/** A program of a Python environment. */
export function programOf(environment: string, platform: NodeJS.Platform, name: string): string {
  return platform === "win32"
    ? path.win32.join(environment, "Scripts", `${name}.exe`)
    : path.posix.join(environment, "bin", name);
}
