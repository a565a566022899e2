import { defineConfig } from "vitest/config";

// One config for the whole workspace: tests run from the root, outside turbo, so that the environment reaches them
// and nothing is answered from a cache.
export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "fixtures/test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    maxWorkers: 2,
    reporters: ["default", "./scripts/summary-reporter.mjs"],
  },
});
