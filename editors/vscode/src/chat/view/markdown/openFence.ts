/** A fence that is still being written: its lines are appended, and never parsed again. */
import { h } from "../dom";

/** Long code is kept in pieces, so that a new line makes the browser lay out one piece and not all. */
const LINES_OF_A_PIECE = 40;

export class OpenFence {
  private readonly closing: RegExp;
  private piece: HTMLElement;
  private lines = 0;
  private last = document.createTextNode("");

  /** `at` is where the code begins in the text. */
  constructor(
    private readonly code: Element,
    private at: number,
    markup: string,
  ) {
    this.closing = new RegExp(`^ {0,3}${markup[0] ?? "`"}{${markup.length},}[ \\t]*$`);
    this.piece = h("span", { class: "lines" });
    code.replaceChildren(this.piece);
    this.piece.append(this.last);
  }

  /** Take what has come. Where the fence has been closed, this is the offset behind it, else −1. */
  grow(text: string): number {
    for (let end: number; (end = text.indexOf("\n", this.at)) >= 0; this.at = end + 1) {
      const line = text.slice(this.at, end);
      if (this.closing.test(line)) return this.close(end + 1);
      this.show(line + "\n");
      this.endLine();
    }
    const rest = text.slice(this.at);
    // What may become the closing fence is not shown as code.
    this.show(/^ {0,3}[`~]/.test(rest) ? "" : rest);
    return -1;
  }

  /** The text ends here. */
  end(text: string): void {
    const rest = text.slice(this.at);
    this.show(this.closing.test(rest) ? "" : rest);
  }

  private close(end: number): number {
    this.show("");
    return end;
  }

  private show(line: string): void {
    if (this.last.data !== line) this.last.data = line;
  }

  private endLine(): void {
    this.last = document.createTextNode("");
    this.lines += 1;
    if (this.lines % LINES_OF_A_PIECE === 0) {
      this.piece = h("span", { class: "lines" });
      this.code.append(this.piece);
    }
    this.piece.append(this.last);
  }
}
