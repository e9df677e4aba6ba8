import { defineConfig } from "vitest/config";

// The built view in a real Chromium. Each file starts its own browser; two at once would disturb the measurements.
export default defineConfig({
  test: {
    include: ["test/view/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
