import { defineConfig } from "vitest/config";

// Against a window of VS Code that runs already; tests/vscode starts it. The limits only tell what did not happen.
export default defineConfig({
  test: {
    include: ["test/page/**/*.test.ts"],
    fileParallelism: false,
    bail: 1,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
