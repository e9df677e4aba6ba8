/** The server's environments: a new one takes the old one's place when it is whole, and not before. */
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Environments } from "../../src/server/environments";

const DAY_MS = 24 * 60 * 60_000;
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ollm-install-"));
});

afterEach(() => rm(folder, { recursive: true }));

/** The storage may not be there before the first install. */
function environments(): Environments {
  return new Environments(path.join(folder, "server"));
}

function filled(name: string): (environment: string) => Promise<void> {
  return (environment) => writeFile(path.join(environment, "name"), name);
}

async function current(): Promise<string> {
  return readFile(path.join(await environments().current(), "name"), "utf8").catch(() => "none");
}

/** As if the window had been closed in the middle of it. */
async function interrupted(): Promise<string> {
  return new Promise((resolve) => {
    void environments().renew(async (environment) => {
      await filled("half")(environment);
      resolve(environment);
      await new Promise(() => undefined);
    });
  });
}

async function makeOld(file: string): Promise<void> {
  const then = new Date(Date.now() - 8 * DAY_MS);
  await utimes(file, then, then);
}

test("a new environment takes the old one's place when it is whole", async () => {
  expect(await current()).toBe("none");
  await environments().renew(filled("first"));
  await environments().renew(async (environment) => {
    expect(await current()).toBe("first");
    await filled("second")(environment);
    expect(await current()).toBe("first");
  });
  expect(await current()).toBe("second");
});

test("an environment stays where it was made, because its programs have its path inside", async () => {
  let made = "";
  await environments().renew((environment) => {
    made = environment;
    return Promise.resolve();
  });
  expect(await environments().current()).toBe(made);
});

test("an install that fails leaves the old environment, and nothing else", async () => {
  await environments().renew(filled("old"));
  const before = await readdir(path.join(folder, "server"));
  const failing = environments().renew(async (environment) => {
    await filled("new")(environment);
    throw new Error("offline");
  });
  await expect(failing).rejects.toThrow("offline");
  expect(await current()).toBe("old");
  expect(await readdir(path.join(folder, "server"))).toEqual(before);
});

test("an install that was interrupted takes nothing away, and does not keep another from being made", async () => {
  await environments().renew(filled("old"));
  await interrupted();
  expect(await current()).toBe("old");
  await environments().renew(filled("new"));
  expect(await current()).toBe("new");
});

test("earlier environments and interrupted ones are removed, but none that another window may be making", async () => {
  await environments().renew(filled("old"));
  const old = await environments().current();
  const left = await interrupted();
  await environments().renew(filled("new"));
  const whole = await environments().current();
  const underWay = await interrupted();
  for (const environment of [old, left, whole]) await makeOld(environment);
  await environments().tidy();
  const names = [whole, underWay].map((environment) => path.basename(environment));
  expect((await readdir(path.join(folder, "server"))).sort()).toEqual([...names, "current"].sort());
  expect(await current()).toBe("new");
});

test("an environment of an earlier version of the extension is used until there is a new one, and then removed", async () => {
  const earlier = path.join(folder, "server");
  await mkdir(earlier);
  await filled("earlier")(earlier);
  await makeOld(path.join(earlier, "name"));
  await environments().tidy();
  expect(await current()).toBe("earlier");
  await environments().renew(filled("new"));
  expect(await current()).toBe("new");
  await environments().tidy();
  expect(await readdir(earlier)).not.toContain("name");
});
