import { vi } from "vitest";

/** Wait for something that comes for certain, however busy the machine is. */
export function until<T>(look: () => T): Promise<Exclude<T, false | undefined>> {
  return vi.waitUntil(look, { timeout: 50_000, interval: 5 }) as Promise<Exclude<T, false | undefined>>;
}
