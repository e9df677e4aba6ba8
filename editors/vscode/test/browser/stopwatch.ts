/** What an answer that grows costs a window: long tasks, frames, changed nodes, and the processor time of the main thread. */
import type { CDPSession, Frame, Page } from "playwright-core";

export interface Seen {
  readonly seconds: number;
  readonly frames: number;
  /** Between two frames, in milliseconds. */
  readonly longestGap: number;
  /** By the clock, in milliseconds: they grow when the machine is busy with something else. */
  readonly longTasks: readonly number[];
  /** How often the answer was changed; nodes that were added, removed, and that are there at the end. */
  readonly updates: number;
  readonly added: number;
  readonly removed: number;
  readonly nodes: number;
  /** Processor time for a block of the answer, in milliseconds. */
  readonly firstQuarter: number;
  readonly lastQuarter: number;
}

interface Counts {
  frames: number;
  longestGap: number;
  longTasks: number[];
  updates: number;
  added: number;
  removed: number;
}

interface Sample {
  readonly blocks: number;
  readonly work: number;
}

export class Stopwatch {
  private readonly samples: Sample[] = [];
  private readonly began = Date.now();

  private constructor(
    private readonly view: Frame,
    private readonly debuggee: CDPSession,
  ) {}

  static async start(page: Page, view: Frame): Promise<Stopwatch> {
    const debuggee = await page.context().newCDPSession(page);
    await debuggee.send("Performance.enable", { timeDomain: "threadTicks" });
    await view.evaluate(watch);
    return new Stopwatch(view, debuggee);
  }

  /** How far it is by now. */
  async take(): Promise<void> {
    const blocks = await this.view.evaluate(() => document.querySelectorAll(".log .markdown > *").length);
    const { metrics } = await this.debuggee.send("Performance.getMetrics");
    const work = metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
    this.samples.push({ blocks, work: work * 1000 });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  async stop(): Promise<Seen> {
    await this.take();
    const counts = await this.view.evaluate(() => (globalThis as unknown as { counts: Counts }).counts);
    const nodes = await this.view.evaluate(() => {
      const all = document.createTreeWalker(document.querySelector(".log") ?? document.body);
      let count = 0;
      while (all.nextNode()) count += 1;
      return count;
    });
    await this.debuggee.detach();
    const total = this.samples.at(-1)?.blocks ?? 0;
    return {
      ...counts,
      nodes,
      seconds: (Date.now() - this.began) / 1000,
      firstQuarter: this.perBlock(0, total / 4),
      lastQuarter: this.perBlock((3 * total) / 4, total),
    };
  }

  private perBlock(from: number, to: number): number {
    const first = this.samples.findLast(({ blocks }) => blocks <= from) ?? this.samples[0];
    const last = this.samples.find(({ blocks }) => blocks >= to) ?? this.samples.at(-1);
    if (!first || !last) return 0;
    return (last.work - first.work) / Math.max(last.blocks - first.blocks, 1);
  }
}

export function words(seen: Seen): string {
  const total = Math.round(seen.longTasks.reduce((sum, one) => sum + one, 0));
  const longest = Math.round(Math.max(0, ...seen.longTasks));
  return (
    `${seen.seconds.toFixed(1)} s, ${seen.frames} frames, the longest gap ${Math.round(seen.longestGap)} ms; ` +
    `${seen.longTasks.length} long tasks by the clock, together ${total} ms, the longest ${longest} ms; ` +
    `${seen.updates} updates added ${seen.added} and removed ${seen.removed} nodes, ${seen.nodes} are there; ` +
    `a block took ${seen.firstQuarter.toFixed(1)} ms of the processor in the first quarter, ` +
    `${seen.lastQuarter.toFixed(1)} ms in the last one`
  );
}

/** Runs in the view. */
function watch(): void {
  const counts: Counts = { frames: 0, longestGap: 0, longTasks: [], updates: 0, added: 0, removed: 0 };
  Object.assign(globalThis, { counts });
  new PerformanceObserver((list) => {
    counts.longTasks.push(...list.getEntries().map(({ duration }) => duration));
  }).observe({ type: "longtask" });
  let before = performance.now();
  const frame = (now: number): void => {
    counts.frames += 1;
    counts.longestGap = Math.max(counts.longestGap, now - before);
    before = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const size = (nodes: NodeList): number =>
    [...nodes].reduce((sum, node) => {
      const all = document.createTreeWalker(node);
      let count = 1;
      while (all.nextNode()) count += 1;
      return sum + count;
    }, 0);
  new MutationObserver((records) => {
    counts.updates += 1;
    for (const { addedNodes, removedNodes } of records) {
      counts.added += size(addedNodes);
      counts.removed += size(removedNodes);
    }
  }).observe(document.querySelector(".log") ?? document.body, { childList: true, characterData: true, subtree: true });
}
