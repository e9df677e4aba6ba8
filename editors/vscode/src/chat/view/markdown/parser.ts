/** The Markdown that models write: CommonMark with tables and strikethrough. HTML in it is text. */
import MarkdownIt, { type Token } from "markdown-it";

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
// What a link may lead to is decided where it becomes an element; here nothing is thrown away.
parser.validateLink = () => true;
parser.normalizeLink = (url) => url;

/** One block of the document: a paragraph, a list, a fence, with all that is inside. */
export interface Block {
  readonly tokens: readonly Token[];
  /** The line on which it begins. */
  readonly line: number;
}

/** The blocks of a text, and whether it defines targets that links elsewhere in it refer to. */
export function parse(text: string): { blocks: readonly Block[]; hasReferences: boolean } {
  const environment: NonNullable<Parameters<typeof parser.parse>[1]> = {};
  const blocks: Block[] = [];
  let open: Token[] = [];
  for (const token of parser.parse(text, environment)) {
    open.push(token);
    if (token.level > 0 || token.nesting > 0) continue;
    blocks.push({ tokens: open, line: open[0]?.map?.[0] ?? 0 });
    open = [];
  }
  return { blocks, hasReferences: Object.keys(environment.references ?? {}).length > 0 };
}
