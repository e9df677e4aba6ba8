// The licences of the packages that a bundle holds: esbuild's metafile tells which these are.
import { readdir, readFile } from "node:fs/promises";
import * as path from "node:path";

const LICENCE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** The folders of all packages that files of the bundles come from. */
export function bundledPackages(metafiles) {
  const files = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs)
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .map(([file]) => file),
    ),
  );
  const folders = files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(folders)].sort();
}

/** One text with the notices of all of them; a package without a licence is an error. */
export async function notices(folders) {
  const parts = await Promise.all(folders.map((folder) => noticeOf(folder)));
  const head = "ollm for VS Code holds parts of the packages below, under these licences.\n";
  return [head, ...parts].join(`\n${"-".repeat(80)}\n\n`);
}

async function noticeOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  const files = (await readdir(folder)).filter((file) => LICENCE.test(file)).sort();
  if (files.length === 0 || !license) throw new Error(`${name} ${version} has no text of its licence`);
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), "utf8")));
  const text = texts.map((one) => one.replace(/\r\n/g, "\n").trim()).join("\n\n");
  return `${name} ${version} (${license})\n\n${text}\n`;
}
