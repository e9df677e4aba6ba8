/** What an answer that grows costs a window: long tasks, frames, changed nodes, and the processor time of the main thread. */
import type { CDPSession, Frame, Page } from "playwright-core";
import { LONG, Trace } from "./trace";

export interface Seen {
  readonly seconds: number;
  readonly frames: number;
  /** Between two frames, in milliseconds. */
  readonly longestGap: number;
  /** By the clock, in milliseconds: they grow when the machine is busy with something else. */
  readonly longTasks: readonly number[];
  /** Tasks of the main thread that are long by processor time. */
  readonly longWork: readonly number[];
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
    private readonly trace: Trace,
  ) {}

  static async start(page: Page, view: Frame): Promise<Stopwatch> {
    const debuggee = await page.context().newCDPSession(page);
    await debuggee.send("Performance.enable", { timeDomain: "threadTicks" });
    await view.evaluate(watch);
    return new Stopwatch(view, debuggee, await Trace.start(page));
  }

  /** How far it is by now: whether this is the end of the answer, and nothing runs any more. Costs the view little. */
  async isOver(end: string): Promise<boolean> {
    const { blocks, isOver } = await this.view.evaluate((text) => {
      const all = document.querySelectorAll(".log .piece > *");
      const isRunning = document.querySelector("[aria-busy=true]") !== null;
      const last = all.item(all.length - 1) as Element | null;
      return { blocks: all.length, isOver: !isRunning && last?.textContent.includes(text) === true };
    }, end);
    const { metrics } = await this.debuggee.send("Performance.getMetrics");
    const work = metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
    this.samples.push({ blocks, work: work * 1000 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    return isOver;
  }

  async stop(): Promise<Seen> {
    const work = await this.trace.stop();
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
      longWork: work.filter((time) => time > LONG),
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
  const tasks = (times: readonly number[]): string => {
    const total = Math.round(times.reduce((sum, one) => sum + one, 0));
    return `${times.length}, together ${total} ms, the longest ${Math.round(Math.max(0, ...times))} ms`;
  };
  return (
    `${seen.seconds.toFixed(1)} s, ${seen.frames} frames, the longest gap ${Math.round(seen.longestGap)} ms; ` +
    `long tasks by the clock: ${tasks(seen.longTasks)}; by processor time: ${tasks(seen.longWork)}; ` +
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
