/** The extension's own Python environments for the server: the current one, and the next while it is made. */
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import * as path from "node:path";

/** The file with the current one's name. */
const CURRENT = "current";
/** What is younger, or was started since, may be made or run in another window. */
const LEFT_ALONE_MS = 7 * 24 * 60 * 60_000;

/** None is ever moved, because its programs have its path inside. A new one is made beside, and counts when it is whole. */
export class Environments {
  constructor(private readonly folder: string) {}

  async current(): Promise<string> {
    // Without a name it is the folder itself: there the extension once had the only one.
    return path.join(this.folder, await this.name());
  }

  /** Where `fill` fails, the current one stays current. */
  async renew(fill: (environment: string) => Promise<void>): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const environment = await mkdtemp(this.folder + path.sep);
    try {
      await fill(environment);
      const note = path.join(environment, CURRENT);
      await writeFile(note, path.basename(environment));
      await rename(note, path.join(this.folder, CURRENT)); // in one step, for other windows read it
    } catch (error) {
      await remove(environment);
      throw error;
    }
  }

  /** The current one is started: remove those that have not been for long, and what interrupted installs have left. */
  async tidy(): Promise<void> {
    const name = await this.name();
    if (!name) return;
    const now = new Date();
    await utimes(path.join(this.folder, name), now, now);
    for (const other of await readdir(this.folder)) {
      if (other === name || other === CURRENT) continue;
      const file = path.join(this.folder, other);
      const { mtimeMs } = await lstat(file);
      if (Date.now() - mtimeMs > LEFT_ALONE_MS) await remove(file);
    }
  }

  private name(): Promise<string> {
    return readFile(path.join(this.folder, CURRENT), "utf8").catch(() => "");
  }
}

/** What is in use cannot be removed everywhere. It is in nobody's way until it can. */
function remove(file: string): Promise<void> {
  return rm(file, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}
