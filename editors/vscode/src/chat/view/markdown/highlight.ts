/** Colours for code, given when a block is complete and the browser has nothing else to do. */
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { ElementContent, RootContent } from "hast";
import { createLowlight } from "lowlight";

const highlighter = createLowlight({
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
});

/** Longer code stays plain: colouring it in one go would stop the browser for a moment that one notices. */
const LONGEST = 20_000;

const waiting = new Set<Element>();

/** Colour this block soon. */
export function highlightLater(code: Element): void {
  const language = code.getAttribute("data-language") ?? "";
  if (!highlighter.registered(language) || code.textContent.length > LONGEST) return;
  if (waiting.size === 0) whenIdle();
  waiting.add(code);
}

function whenIdle(): void {
  requestIdleCallback(
    (deadline) => {
      for (const code of waiting) {
        waiting.delete(code);
        if (code.isConnected) highlight(code);
        if (deadline.timeRemaining() < 4) break;
      }
      if (waiting.size > 0) whenIdle();
    },
    { timeout: 1000 },
  );
}

function highlight(code: Element): void {
  const tree = highlighter.highlight(code.getAttribute("data-language") ?? "", code.textContent);
  code.replaceChildren(...tree.children.map(toNode));
}

function toNode(node: RootContent | ElementContent): Node {
  if (node.type !== "element") return document.createTextNode(node.type === "text" ? node.value : "");
  const span = document.createElement("span");
  const names = node.properties.className;
  if (Array.isArray(names)) span.className = names.join(" ");
  span.append(...node.children.map(toNode));
  return span;
}
