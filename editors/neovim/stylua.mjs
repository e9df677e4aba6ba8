// StyLua over all Lua of the plugin: `node stylua.mjs FOLDER_OF_THE_PACKAGE [--check]`. Its own program is no npm package.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [folder, mode] = process.argv.slice(2);
const library = join(folder, "node_modules", "@johnnymorganz", "stylua", "stylua_lib_node.mjs");
const { Config, IndentType, OutputVerification, QuoteStyle, formatCode } = await import(pathToFileURL(library).href);

// The same as in stylua.toml, which editors read. It is used up by each call.
function config() {
  const chosen = Config.new();
  chosen.column_width = 120;
  chosen.indent_type = IndentType.Spaces;
  chosen.indent_width = 2;
  chosen.quote_style = QuoteStyle.AutoPreferDouble;
  return chosen;
}

const root = dirname(fileURLToPath(import.meta.url));
const files = readdirSync(root, { recursive: true }).filter((name) => name.endsWith(".lua"));
const others = [];
for (const file of files.map((name) => join(root, name))) {
  const text = readFileSync(file, "utf8");
  const formatted = formatCode(text, config(), undefined, OutputVerification.Full);
  if (formatted !== text) {
    others.push(relative(root, file));
    if (mode !== "--check") writeFileSync(file, formatted);
  }
}
const verb = mode === "--check" ? "Would format" : "Formatted";
console.log(others.length ? `${verb}: ${others.join(", ")}` : `${files.length} Lua files already formatted`);
process.exitCode = mode === "--check" && others.length ? 1 : 0;
