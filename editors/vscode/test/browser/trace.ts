/** The processor time of the tasks of a page's main thread: unlike the clock's, it does not grow on a busy machine. */
import type { CDPSession, Page } from "playwright-core";

/** What a long task is to a browser, in milliseconds. */
export const LONG = 50;

interface TraceEvent {
  readonly name: string;
  readonly tid: number;
  readonly pid: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

export class Trace {
  private readonly events: TraceEvent[] = [];

  private constructor(private readonly debuggee: CDPSession) {
    debuggee.on("Tracing.dataCollected", ({ value }) => {
      this.events.push(...(value as unknown as TraceEvent[]));
    });
  }

  static async start(page: Page): Promise<Trace> {
    const debuggee = await page.context().newCDPSession(page);
    const trace = new Trace(debuggee);
    await debuggee.send("Tracing.start", { transferMode: "ReportEvents", categories: "toplevel,__metadata" });
    return trace;
  }

  /** The time of every task since the start, in milliseconds. */
  async stop(): Promise<readonly number[]> {
    const complete = new Promise((resolve) => this.debuggee.once("Tracing.tracingComplete", resolve));
    await this.debuggee.send("Tracing.end");
    await complete;
    await this.debuggee.detach();
    const mains = this.events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
    const isMain = (event: TraceEvent): boolean => mains.some(({ tid, pid }) => tid === event.tid && pid === event.pid);
    const tasks = this.events.filter((event) => event.name === "ThreadControllerImpl::RunTask" && isMain(event));
    return tasks.map(({ tdur = 0 }) => tdur / 1000);
  }
}
