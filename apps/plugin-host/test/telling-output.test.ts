import { VenvHostError } from "@berth/venv-host";
import type { PluginEntry, PluginKind } from "@berth/venv-host/executor";
import { expect, it } from "vitest";
import { tellingOutput } from "../src/hosting/telling-output.js";

const entry: PluginEntry = {
  ...{ name: "good", kind: "isolated_venv", hooks: [], mode: "sequential", onError: "fail", priority: 1 },
  ...{ capabilities: [], conditions: [], tags: [], config: undefined, more: {}, line: 1 },
  ...{ description: undefined, author: undefined, version: undefined },
};

it.each([
  {
    name: "all but the line that the error has",
    error: new VenvHostError("VENV_BUILD_FAILED", "install: uv ended with exit code 1: unsatisfiable", {
      stderrExcerpt: "error: No solution\n  cause: nosuch was not found\n\nunsatisfiable\n",
    }),
    told: ["  error: No solution", "    cause: nosuch was not found"],
  },
  {
    name: "the end of much",
    error: new VenvHostError("VENV_BUILD_FAILED", "too long", { stderrExcerpt: "line\n".repeat(50) }),
    told: Array.from({ length: 20 }, () => "  line"),
  },
  { name: "nothing of another error", error: new Error("no"), told: [] },
])("what an installer said is told: $name", async ({ error, told }) => {
  const kind: PluginKind = { name: "isolated_venv", check: () => [], open: () => Promise.reject(error) };
  const steps: string[] = [];
  const onProgress = (step: string): void => void steps.push(step);
  await expect(tellingOutput(kind).open(entry, { onProgress, onLog: () => {} })).rejects.toBe(error);
  expect(steps).toEqual(told);
});
