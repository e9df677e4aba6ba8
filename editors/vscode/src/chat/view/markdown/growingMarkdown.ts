/**
 * Markdown that grows. Blocks that are complete are rendered once; with each new text only the last block is parsed and
 * rendered again, and code in an open fence not even that. The blocks are kept in pieces, so that the browser lays out and
 * paints the last piece and not all of a long answer.
 */
import type { Token } from "markdown-it";
import { h } from "../dom";
import { elements } from "./elements";
import { highlightLater } from "./highlight";
import { OpenFence } from "./openFence";
import { parse, type Block } from "./parser";
import { reconcile } from "./reconcile";

/** A list that is longer than this is cut in two behind an item, so that its beginning need not be rendered again. */
const LONG_LIST = 6_000;
const BLOCKS_OF_A_PIECE = 40;

export class GrowingMarkdown {
  private text = "";
  /** Where in the text the first block begins that is not complete. */
  private done = 0;
  /** The last piece: all before it is complete. */
  private piece: Element;
  /** How many nodes of the piece belong to complete blocks. */
  private doneNodes = 0;
  private fence: OpenFence | null = null;
  private hasReferences = false;

  constructor(private readonly element: Element) {
    this.piece = this.addPiece();
  }

  /** Show this text, which mostly is the last one and a little more; `isWhole` when nothing will follow. */
  show(written: string, isWhole: boolean): void {
    const text = written.includes("\r") ? written.replace(/\r\n?/g, "\n") : written;
    if (!this.goesOn(text)) this.restart();
    this.text = text;
    if (this.fence && !this.growFence(this.fence, isWhole)) return;
    this.parseRest(isWhole);
    // A link may refer to a target that is defined behind it.
    if (isWhole && this.hasReferences) this.renderAll();
  }

  private goesOn(text: string): boolean {
    return text.startsWith(this.text) || (!this.fence && text.startsWith(this.text.slice(0, this.done)));
  }

  private restart(): void {
    const [first = this.piece, ...more] = this.element.children;
    for (const piece of more) {
      first.append(...piece.childNodes);
      piece.remove();
    }
    this.piece = first;
    this.done = this.doneNodes = 0;
    this.fence = null;
  }

  /** Whether there is something behind the fence. */
  private growFence(fence: OpenFence, isWhole: boolean): boolean {
    const end = fence.grow(this.text);
    if (end < 0 && isWhole) fence.end(this.text);
    if (end < 0 && !isWhole) return false;
    this.fence = null;
    this.done = end < 0 ? this.text.length : end;
    this.freeze(this.piece.childNodes.length);
    return true;
  }

  private parseRest(isWhole: boolean): void {
    const rest = this.text.slice(this.done);
    const { blocks, hasReferences } = parse(rest);
    this.hasReferences ||= hasReferences;
    const nodes = blocks.map((block) => [...elements(block.tokens).childNodes]);
    reconcile(this.piece, this.doneNodes, nodes.flat());
    const open = isWhole ? blocks.length : firstOpen(blocks, rest);
    this.freeze(this.doneNodes + nodes.slice(0, open).flat().length);
    this.done += isWhole ? rest.length : lineOffset(rest, blocks[open]?.line ?? 0);
    const last = blocks.at(-1);
    const token = last?.tokens[0];
    if (isWhole || !token || open < blocks.length - 1) return;
    this.openFence(token);
    if (/^(bullet|ordered)_list_open$/.test(token.type) && this.text.length - this.done > LONG_LIST) this.cutList(last);
  }

  private cutList(list: Block): void {
    const rest = this.text.slice(this.done);
    const items = list.tokens.filter((token) => token.type === "list_item_open" && token.level === 1);
    const lines = items.map((item) => (item.map?.[0] ?? 0) - list.line);
    const open = firstOpen(
      lines.map((line) => ({ line })),
      rest,
    );
    const before = this.piece.lastElementChild;
    if (open === 0 || !before) return;
    const after = before.cloneNode() as Element;
    after.append(...[...before.children].slice(open));
    before.after(after);
    this.freeze(this.doneNodes + 1);
    this.done += lineOffset(rest, lines[open] ?? 0);
  }

  private openFence(token: Token): void {
    const code = this.piece.lastElementChild?.querySelector("code");
    const head = this.text.indexOf("\n", this.done);
    if (token.type !== "fence" || head < 0 || !code || this.text[this.done] === " ") return;
    this.fence = new OpenFence(code, head + 1, token.markup);
    const end = this.fence.grow(this.text);
    if (end >= 0) this.fence = null;
  }

  private freeze(nodes: number): void {
    for (const node of [...this.piece.childNodes].slice(this.doneNodes, nodes))
      if (node instanceof Element) node.querySelectorAll("pre > code").forEach(highlightLater);
    this.doneNodes = nodes;
    this.cutPiece();
  }

  /** What is too much for the piece goes on in new ones; what is not complete stays together in the last one. */
  private cutPiece(): void {
    const rest = this.doneNodes < BLOCKS_OF_A_PIECE ? [] : [...this.piece.childNodes].slice(BLOCKS_OF_A_PIECE);
    while (rest.length > 0 && this.doneNodes >= BLOCKS_OF_A_PIECE) {
      this.piece = this.addPiece();
      this.doneNodes -= BLOCKS_OF_A_PIECE;
      this.piece.append(...rest.splice(0, this.doneNodes < BLOCKS_OF_A_PIECE ? rest.length : BLOCKS_OF_A_PIECE));
    }
  }

  private addPiece(): Element {
    const piece = h("div", { class: "piece" });
    this.element.append(piece);
    return piece;
  }

  private renderAll(): void {
    this.hasReferences = false;
    this.restart();
    this.parseRest(true);
  }
}

/** Only a whole line tells whether it begins a block: `#` may become `#1`, and belong to the paragraph above it. */
function firstOpen(blocks: readonly Pick<Block, "line">[], text: string): number {
  const wholeLines = text.split("\n").length - 1;
  const begun = blocks.findLastIndex((block) => block.line < wholeLines);
  return Math.max(begun, 0);
}

function lineOffset(text: string, line: number): number {
  let offset = 0;
  for (let passed = 0; passed < line; passed += 1) offset = text.indexOf("\n", offset) + 1;
  return offset;
}
