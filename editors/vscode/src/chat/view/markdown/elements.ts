/** From Markdown tokens to elements. Only tags named here can come out, and only attributes that are set here. */
import type { Token } from "markdown-it";
import { h } from "../dom";
import { codeBlock } from "./codeBlock";

const TAGS = new Set([
  "p",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "ul",
  "ol",
  "li",
  "blockquote",
  "hr",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
  "em",
  "strong",
  "s",
  "br",
] as const);
type Tag = typeof TAGS extends Set<infer Name> ? Name : never;

/** The element of one block. */
export function elements(tokens: readonly Token[]): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const stack: (Element | DocumentFragment)[] = [fragment];
  for (const token of tokens) {
    const parent = stack.at(-1) ?? fragment;
    if (token.type === "inline") parent.append(elements(token.children ?? []));
    else if (token.nesting < 0) {
      if (stack.length > 1 && !token.hidden) stack.pop();
    } else if (!token.hidden) {
      const node = made(token);
      parent.append(node);
      if (token.nesting > 0 && node instanceof Element) stack.push(inner(node));
    }
  }
  return fragment;
}

function made(token: Token): Node {
  switch (token.type) {
    case "text":
    case "text_special":
    case "html_inline":
    case "html_block":
      return document.createTextNode(token.content);
    case "softbreak":
      return document.createTextNode("\n");
    case "code_inline":
      return h("code", { text: token.content });
    case "fence":
    case "code_block":
      return codeBlock(token.content, token.info.trim());
    case "link_open":
      return link(attribute(token, "href"), attribute(token, "title"));
    case "image":
      return imageLink(token);
  }
  if (token.tag === "table") return h("div", { class: "table", tabindex: 0 }, h("table"));
  return isTag(token.tag) ? block(token, token.tag) : document.createTextNode(token.content);
}

/** Where the children of an element go. */
function inner(element: Element): Element {
  return element.className === "table" ? (element.firstElementChild ?? element) : element;
}

function isTag(tag: string): tag is Tag {
  return (TAGS as ReadonlySet<string>).has(tag);
}

function block(token: Token, tag: Tag): HTMLElement {
  const alignment = /text-align:(left|center|right)/.exec(attribute(token, "style"))?.[1];
  return h(tag, {
    start: tag === "ol" ? token.attrGet("start") : null,
    class: alignment ? `align-${alignment}` : null,
  });
}

/**
 * A link has no `href`: nothing leads anywhere unless the host, which asks the user, opens it. What is not a web page,
 * a mail address or a file, be it on a drive of Windows, is no link at all.
 */
export function link(href: string, title = ""): HTMLElement {
  if (!isHarmless(href)) return h("span", { title: href });
  return h("a", { role: "link", tabindex: 0, "data-href": href, title: title ? `${title}\n${href}` : href });
}

function isHarmless(href: string): boolean {
  if (/^[a-z]:[\\/]/i.test(href)) return true;
  // Browsers skip control characters and blanks in a scheme; whoever writes them has something to hide.
  const scheme = /^([^/?#:]*):/.exec(href)?.[1];
  if (scheme === undefined) return !/^[\s#]|^[\\/]{2}/.test(href) && href !== "";
  return /^(https?|mailto|file)$/i.test(scheme) || /^[\w.-]+\.\w+$/.test(scheme);
}

/** An image is never loaded: the address alone would tell somebody that it was read. */
function imageLink(token: Token): HTMLElement {
  const target = attribute(token, "src");
  const element = link(target);
  element.append(`🖼 ${token.content || target}`);
  return element;
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? "");
}
