// Bundle the extension (Node) and the chat view (browser) into dist/: `node esbuild.mjs [--watch]`.
// With --tests: the tests that run inside VS Code, and what starts them, into out/.
import { build, context } from "esbuild";

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
const parts = process.argv.includes("--tests") ? [...product, ...tests] : product;

if (watches) await Promise.all(parts.map(async (part) => (await context(part)).watch()));
else await Promise.all(parts.map((part) => build(part)));
