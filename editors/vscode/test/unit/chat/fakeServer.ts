/** A server that answers each request when the test says so. */
import type { RequestOptions, Server } from "../../../src/server";
import { until } from "../until";

export class FakeServer {
  readonly calls: {
    method: string;
    params: Record<string, unknown>;
    options: RequestOptions;
    end: (result: unknown) => void;
    fail: (error: Error) => void;
  }[] = [];
  readonly server = {
    state: "running",
    status: { kraken: "ready", model: "ollama:default", busy: false, spent: 0 },
    onStatus: () => ({ dispose: () => undefined }),
    onDidChangeState: () => ({ dispose: () => undefined }),
    onDidStart: () => ({ dispose: () => undefined }),
    request: (method: string, params: Record<string, unknown>, options: RequestOptions = {}) =>
      new Promise((resolve, reject) => {
        this.calls.push({ method, params, options, end: resolve, fail: reject });
      }),
  } as unknown as Server;

  async next(method: string): Promise<FakeServer["calls"][number]> {
    return until(() => {
      const at = this.calls.findIndex((call) => call.method === method);
      return at >= 0 && this.calls.splice(at, 1)[0];
    });
  }
}
