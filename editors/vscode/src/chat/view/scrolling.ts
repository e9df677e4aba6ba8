/** A list that stays at its end while it grows, unless the user has scrolled away from there. */

const NEAR = 32;

export class Scrolling {
  private isAtEnd = true;

  constructor(
    private readonly element: HTMLElement,
    content: HTMLElement,
    private readonly toEnd: HTMLElement,
  ) {
    element.addEventListener(
      "scroll",
      () => {
        this.look();
      },
      { passive: true },
    );
    new ResizeObserver(() => {
      this.follow();
    }).observe(content);
    new ResizeObserver(() => {
      this.follow();
    }).observe(element);
    toEnd.addEventListener("click", () => {
      this.goToEnd();
    });
  }

  /** Go to the end, and stay there. */
  goToEnd(): void {
    this.isAtEnd = true;
    this.follow();
  }

  private follow(): void {
    if (this.isAtEnd) this.element.scrollTop = this.element.scrollHeight;
    this.toEnd.hidden = this.isAtEnd;
  }

  private look(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    this.isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    this.toEnd.hidden = this.isAtEnd;
  }
}
