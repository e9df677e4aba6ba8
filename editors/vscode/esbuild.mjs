// Bundle the extension (Node) and the chat view (browser) into dist/, with the licences of what they hold:
// `node esbuild.mjs [--watch]`.
// With --tests: the tests that run inside VS Code, and what starts them, into out/.
import { writeFile } from "node:fs/promises";
import { build, context } from "esbuild";
import { bundledPackages, notices } from "./notices.mjs";

const watches = process.argv.includes("--watch");
const common = { bundle: true, minify: !watches, sourcemap: watches, target: "es2022", logLevel: "warning" };
const host = { ...common, platform: "node", format: "cjs", external: ["vscode"] };

const product = [
  { ...host, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js" },
  {
    ...common,
    entryPoints: { chat: "src/chat/view/main.ts" },
    outdir: "dist",
    platform: "browser",
    format: "iife",
    loader: { ".ttf": "dataurl" },
  },
];
const tests = [
  {
    ...host,
    minify: false,
    sourcemap: "inline",
    entryPoints: ["test/host/index.ts"],
    outfile: "out/host.js",
    external: ["vscode", "mocha"],
  },
  {
    ...common,
    minify: false,
    platform: "node",
    format: "esm",
    packages: "external",
    entryPoints: ["test/browser/run-host.ts", "test/browser/pictures.ts", "test/browser/install.ts"],
    outdir: "out",
    outExtension: { ".js": ".mjs" },
  },
];
const parts = process.argv.includes("--tests") ? tests : [];

if (watches) await Promise.all([...product, ...parts].map(async (part) => (await context(part)).watch()));
else {
  const [built] = await Promise.all([
    Promise.all(product.map((part) => build({ ...part, metafile: true }))),
    ...parts.map((part) => build(part)),
  ]);
  const folders = bundledPackages(built.map(({ metafile }) => metafile));
  await writeFile("dist/ThirdPartyNotices.txt", await notices(folders));
}
