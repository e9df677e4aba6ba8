/** Whatever happens to servers, and in whatever order: there is one, or words why there is none. */
import { expect, test } from "vitest";
import { ServerError, type ServerState } from "../../src/server";
import { Lifecycle, Missing, type Startable } from "../../src/server/lifecycle";
import { Restarts } from "../../src/server/restarts";

/** Answers when the test says so. */
class FakeClient implements Startable {
  isDisposed = false;
  answer: () => void = () => undefined;
  fail: (error: Error) => void = () => undefined;
  private readonly started = new Promise<void>((resolve, reject) => {
    this.answer = resolve;
    this.fail = reject;
  });

  start(): Promise<void> {
    return this.started;
  }

  dispose(): Promise<void> {
    this.isDisposed = true;
    // As the library does with a client that starts.
    return Promise.reject(new Error("Client is not running and can't be stopped."));
  }
}

class Fixture {
  readonly clients: FakeClient[] = [];
  readonly states: ServerState[] = [];
  readonly told: string[] = [];
  isMissing = false;
  private looked = Promise.resolve();
  readonly lifecycle = new Lifecycle<FakeClient>(
    {
      make: async () => {
        const { isMissing } = this;
        await this.looked;
        if (isMissing) throw new Missing("There is none.", () => this.told.push("missing"));
        const client = new FakeClient();
        this.clients.push(client);
        return client;
      },
      changed: (state) => this.states.push(state),
      ended: (isStartedAgain) => this.told.push(isStartedAgain ? "again" : "left"),
      notStarted: (error) => {
        this.told.push("not started");
        return new ServerError(String(error), "unavailable");
      },
    },
    new Restarts(1, 1000),
  );

  /** From now on, who looks for a server finds what there is only when the result is called. */
  slowLook(): () => void {
    let end = (): void => undefined;
    this.looked = new Promise((resolve) => {
      end = resolve;
    });
    return end;
  }

  async made(index: number): Promise<FakeClient> {
    await turn();
    const client = this.clients[index];
    if (!client) throw new Error(`there is no client ${index}`);
    return client;
  }

  async running(): Promise<FakeClient> {
    const started = this.lifecycle.start();
    const client = await this.made(0);
    client.answer();
    await started;
    return client;
  }

  /** Those that nobody has ended. */
  get alive(): FakeClient[] {
    return this.clients.filter(({ isDisposed }) => !isDisposed);
  }
}

/** Brings a new server, or none, when the test says so. */
class FakeInstall {
  count = 0;
  end: (isNew: boolean) => void = () => undefined;

  readonly work = (): Promise<boolean> => {
    this.count++;
    return new Promise((resolve) => {
      this.end = resolve;
    });
  };
}

/** Until all that can go on has gone on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("several that ask for a server start one", async () => {
  const fixture = new Fixture();
  const both = Promise.all([fixture.lifecycle.start(), fixture.lifecycle.start()]);
  (await fixture.made(0)).answer();
  await both;
  await fixture.lifecycle.start();
  expect(fixture.clients).toHaveLength(1);
  expect(fixture.states).toEqual(["starting", "running"]);
});

test("after a crash, whoever asks at once waits for the one new server", async () => {
  const fixture = new Fixture();
  const { lifecycle } = fixture;
  lifecycle.ended(await fixture.running());
  expect(lifecycle.state).toBe("starting");
  expect(lifecycle.client).toBeUndefined();
  const asked = lifecycle.start();
  const next = await fixture.made(1);
  next.answer();
  await asked;
  expect(lifecycle.client).toBe(next);
  expect(fixture.clients).toHaveLength(2);
  expect(fixture.states).toEqual(["starting", "running", "starting", "running"]);
  expect(fixture.told).toEqual(["again"]);
});

test("a server that ends too often is left alone, until somebody asks", async () => {
  const fixture = new Fixture();
  const { lifecycle } = fixture;
  lifecycle.ended(await fixture.running());
  const next = await fixture.made(1);
  next.answer();
  await turn();
  lifecycle.ended(next);
  expect(lifecycle.state).toBe("failed");
  expect(fixture.told).toEqual(["again", "left"]);
  const asked = lifecycle.start();
  (await fixture.made(2)).answer();
  await asked;
  expect(lifecycle.state).toBe("running");
});

test("the end of a server that was replaced means nothing", async () => {
  const fixture = new Fixture();
  const old = await fixture.running();
  const restarted = fixture.lifecycle.restart();
  (await fixture.made(1)).answer();
  await restarted;
  fixture.lifecycle.ended(old);
  expect(fixture.lifecycle.state).toBe("running");
  expect(fixture.clients).toHaveLength(2);
  expect(fixture.told).toEqual([]);
});

test("a restart while it starts ends in one running server, for whoever waited as well", async () => {
  const fixture = new Fixture();
  const { lifecycle } = fixture;
  const first = lifecycle.start();
  const old = await fixture.made(0);
  const restarted = lifecycle.restart();
  old.answer(); // too late: nobody wants it any more
  const next = await fixture.made(1);
  next.answer();
  await Promise.all([first, restarted]);
  expect(lifecycle.client).toBe(next);
  expect(fixture.alive).toEqual([next]);
  expect(lifecycle.state).toBe("running");
});

test("who waited for a start that was given up has the new server, also when that was quicker", async () => {
  const fixture = new Fixture();
  const { lifecycle } = fixture;
  const first = lifecycle.start();
  const old = await fixture.made(0);
  const restarted = lifecycle.restart();
  (await fixture.made(1)).answer();
  await restarted;
  old.answer();
  await first;
  expect(lifecycle.state).toBe("running");
});

test("a start that hangs can be given up", async () => {
  const fixture = new Fixture();
  const { lifecycle } = fixture;
  void lifecycle.start();
  const hanging = await fixture.made(0);
  const restarted = lifecycle.restart();
  const next = await fixture.made(1);
  next.answer();
  await restarted;
  expect(hanging.isDisposed).toBe(true);
  expect(lifecycle.client).toBe(next);
});

test("restarts that overlap end in one running server", async () => {
  const fixture = new Fixture();
  const { lifecycle } = fixture;
  await fixture.running();
  const all = Promise.all([lifecycle.restart(), lifecycle.restart(), lifecycle.start()]);
  await turn();
  for (const client of fixture.clients) client.answer();
  await all;
  expect(fixture.alive).toEqual([lifecycle.client]);
  expect(lifecycle.state).toBe("running");
});

test("who waits for a server that is stopped gets words", async () => {
  const fixture = new Fixture();
  const started = fixture.lifecycle.start();
  const client = await fixture.made(0);
  const stopped = fixture.lifecycle.stop();
  client.fail(new Error("ended"));
  await expect(started).rejects.toThrow("ollm-lsp was stopped.");
  await stopped;
  expect(fixture.lifecycle.state).toBe("stopped");
  expect(fixture.told).toEqual([]);
});

test("a server that ends while it starts has failed, and is told of once", async () => {
  for (const settle of ["answer", "fail"] as const) {
    const fixture = new Fixture();
    const started = fixture.lifecycle.start();
    const client = await fixture.made(0);
    fixture.lifecycle.ended(client);
    client[settle](new Error("closed"));
    await expect(started).rejects.toThrow(ServerError);
    expect(fixture.lifecycle.state).toBe("failed");
    expect(fixture.told).toEqual(["not started"]);
  }
});

test("nothing to start is another state than a failure, and can be mended", async () => {
  const fixture = new Fixture();
  fixture.isMissing = true;
  await expect(fixture.lifecycle.start()).rejects.toThrow("There is none.");
  expect(fixture.lifecycle.state).toBe("missing");
  expect(fixture.told).toEqual(["missing"]);
  fixture.isMissing = false;
  await fixture.running();
  expect(fixture.lifecycle.state).toBe("running");
});

test("who asks for a server or for an install while one is installed waits for it, and is not asked again", async () => {
  const fixture = new Fixture();
  const { lifecycle } = fixture;
  const install = new FakeInstall();
  fixture.isMissing = true;
  await expect(lifecycle.start()).rejects.toThrow(Missing);
  const first = lifecycle.install(install.work);
  expect(lifecycle.state).toBe("starting");
  const all = [first, lifecycle.start(), lifecycle.install(install.work), lifecycle.restart()];
  await turn();
  expect(install.count).toBe(1);
  fixture.isMissing = false;
  install.end(true);
  (await fixture.made(0)).answer();
  await Promise.all(all);
  expect(lifecycle.state).toBe("running");
  expect(fixture.clients).toHaveLength(1);
  expect(fixture.told).toEqual(["missing"]);
});

test("after an install that brought nothing the user is not asked again, and another can be made", async () => {
  const fixture = new Fixture();
  const { lifecycle } = fixture;
  const install = new FakeInstall();
  fixture.isMissing = true;
  await expect(lifecycle.start()).rejects.toThrow(Missing);
  const all = [lifecycle.install(install.work), lifecycle.start()].map((one) => expect(one).rejects.toThrow(Missing));
  await turn();
  install.end(false);
  await Promise.all(all);
  expect(lifecycle.state).toBe("missing");
  expect(fixture.told).toEqual(["missing"]);
  const again = lifecycle.install(install.work);
  await turn();
  fixture.isMissing = false;
  install.end(true);
  (await fixture.made(0)).answer();
  await again;
  expect(install.count).toBe(2);
  expect(lifecycle.state).toBe("running");
});

test("an install that ends while a server is looked for still counts", async () => {
  for (const isNew of [true, false]) {
    const fixture = new Fixture();
    const { lifecycle } = fixture;
    const install = new FakeInstall();
    fixture.isMissing = true;
    await expect(lifecycle.start()).rejects.toThrow(Missing);
    const installed = lifecycle.install(install.work);
    const look = fixture.slowLook();
    const asked = lifecycle.restart();
    await turn();
    fixture.isMissing = !isNew;
    install.end(isNew);
    await turn();
    look();
    if (isNew) {
      (await fixture.made(0)).answer();
      await Promise.all([installed, asked]);
    } else await Promise.all([installed, asked].map((one) => expect(one).rejects.toThrow(Missing)));
    expect(fixture.told).toEqual(["missing"]);
  }
});

test("an install that begins while a server is looked for is waited for", async () => {
  const fixture = new Fixture();
  const { lifecycle } = fixture;
  const install = new FakeInstall();
  fixture.isMissing = true;
  const look = fixture.slowLook();
  const asked = lifecycle.start();
  await turn();
  const installed = lifecycle.install(install.work);
  look();
  await turn();
  fixture.isMissing = false;
  install.end(true);
  (await fixture.made(0)).answer();
  await Promise.all([asked, installed]);
  expect(fixture.told).toEqual([]);
});

test("a server that runs goes on until there is a new one", async () => {
  const fixture = new Fixture();
  const { lifecycle } = fixture;
  const install = new FakeInstall();
  const old = await fixture.running();
  const failed = lifecycle.install(install.work);
  await lifecycle.start();
  install.end(false);
  await failed;
  expect(fixture.alive).toEqual([old]);
  const installed = lifecycle.install(install.work);
  await turn();
  expect(lifecycle.client).toBe(old);
  install.end(true);
  const next = await fixture.made(1);
  next.answer();
  await installed;
  expect(lifecycle.client).toBe(next);
  expect(fixture.alive).toEqual([next]);
  expect(fixture.told).toEqual([]);
});

test("a server that ends while a new one is installed is started again at once", async () => {
  const fixture = new Fixture();
  const { lifecycle } = fixture;
  const install = new FakeInstall();
  const old = await fixture.running();
  const installed = lifecycle.install(install.work);
  lifecycle.ended(old);
  (await fixture.made(1)).answer();
  await turn();
  expect(lifecycle.state).toBe("running");
  install.end(false);
  await installed;
});
