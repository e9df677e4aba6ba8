/** One server at a time: started, started again when it ends by itself, and stopped. No editor needed. */
import { ServerError, type ServerState } from "../server";
import type { Restarts } from "./restarts";

/** A client with a process of its own. It is started once; another start takes another client. */
export interface Startable {
  start(): Promise<void>;
  /** Ends it, also while it starts. */
  dispose(): Promise<void>;
}

export interface Surroundings<C> {
  /** Rejects with {@link Missing} when there is nothing to start. */
  make(): Promise<C>;
  changed(state: ServerState): void;
  /** It has ended by itself. */
  ended(isStartedAgain: boolean): void;
  /** Tells the user why it does not run, and makes words of it for whoever waits. */
  notStarted(error: unknown): ServerError;
}

/** There is nothing to start. `tell` offers the user what helps. */
export class Missing extends ServerError {
  constructor(
    message: string,
    readonly tell: () => void,
    remedy = "",
  ) {
    super(message, "unavailable", remedy, true);
  }
}

export class Lifecycle<C extends Startable> {
  private current: C | undefined;
  /** The start that is under way. One that is no longer this one is not wanted any more. */
  private starting: Promise<void> | undefined;
  /** The install that is under way. */
  private installing: Promise<void> | undefined;

  state: ServerState = "stopped";

  constructor(
    private readonly around: Surroundings<C>,
    private readonly restarts: Restarts,
  ) {}

  get client(): C | undefined {
    return this.current;
  }

  /** Start it unless it runs. Rejects with words for the user, who has also been told. */
  start(): Promise<void> {
    if (this.state === "running") return Promise.resolve();
    return this.starting ?? this.begin();
  }

  /** Whoever waits for a start that is given up by this, because it hangs or is outdated, waits for the new one. */
  restart(): Promise<void> {
    this.restarts.forget();
    return this.begin(this.stop());
  }

  /**
   * One at a time, whoever asks. What runs goes on until `work` has brought a new one; a start that finds none waits for
   * it. `work` tells the user when it has brought nothing.
   */
  async install(work: () => Promise<boolean>): Promise<void> {
    this.installing ??= this.renew(work);
    await this.installing;
    await this.starting;
  }

  async stop(): Promise<void> {
    const client = this.current;
    this.current = undefined;
    this.settle("stopped");
    await client?.dispose().catch(() => undefined); // one that does not answer is ended all the same
  }

  /** A client's connection has closed, and nobody has asked for that. */
  ended(client: C): void {
    if (client !== this.current) return;
    this.current = undefined;
    if (this.starting) return; // that start fails by it
    const isStartedAgain = this.restarts.mayRestart(Date.now());
    this.around.ended(isStartedAgain);
    if (isStartedAgain)
      this.begin().catch(() => undefined); // the user has been told
    else this.settle("failed");
  }

  private async renew(work: () => Promise<boolean>): Promise<void> {
    if (this.state === "missing") this.begin().catch(() => undefined); // the user has been told
    try {
      if (await work()) this.restart().catch(() => undefined); // the user has been told
    } finally {
      this.installing = undefined;
    }
  }

  /** Requests wait from here on: the state is `starting` at once. */
  private begin(before?: Promise<void>): Promise<void> {
    const starting: Promise<void> = this.launch(() => this.starting === starting, before);
    this.starting = starting;
    this.set("starting");
    return starting;
  }

  private async launch(isWanted: () => boolean, before?: Promise<void>): Promise<void> {
    await before;
    try {
      if (isWanted()) await this.run(await this.make(), isWanted);
    } catch (error) {
      if (isWanted()) {
        this.settle(error instanceof Missing ? "missing" : "failed");
        throw error instanceof Missing ? error : this.around.notStarted(error);
      }
    }
    if (isWanted()) this.settle("running");
    else if (this.starting) await this.starting;
    else if (this.state !== "running")
      throw new ServerError("ollm-lsp was stopped.", "unavailable", "Run: ollm: Restart Server");
  }

  private async make(): Promise<C> {
    const before = this.installing;
    try {
      return await this.around.make();
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      const installing = before ?? this.installing;
      // After it, there is a newer start than this one, or the user knows why there is none.
      if (installing) await installing;
      else error.tell();
      throw error;
    }
  }

  private async run(client: C, isWanted: () => boolean): Promise<void> {
    if (!isWanted()) return;
    this.current = client;
    try {
      await client.start();
      if (client !== this.current) throw new Error("It ended while it started.");
    } catch (error) {
      if (client === this.current) this.current = undefined;
      await client.dispose().catch(() => undefined);
      throw error;
    }
  }

  private settle(state: ServerState): void {
    this.starting = undefined;
    this.set(state);
  }

  private set(state: ServerState): void {
    if (state === this.state) return;
    this.state = state;
    this.around.changed(state);
  }
}
