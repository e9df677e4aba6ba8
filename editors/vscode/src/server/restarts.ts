/** How often a server that ends by itself is started again. */

export class Restarts {
  private ends: number[] = [];

  constructor(
    private readonly most: number,
    private readonly withinMs: number,
  ) {}

  /** The server has ended: may it be started again? */
  mayRestart(now: number): boolean {
    this.ends = [...this.ends.filter((end) => now - end < this.withinMs), now];
    return this.ends.length <= this.most;
  }

  forget(): void {
    this.ends = [];
  }
}
