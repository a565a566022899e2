import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { type EscapeReport, escapeAttempts } from "../../src/escapes/index.js";
import { hasControllers } from "../limits/groups-test.js";

const program = fileURLToPath(new URL("../programs/try-escapes.mjs", import.meta.url));
const isRoot = process.getuid?.() === 0;
/** What makes an ordinary user of this one. */
const asUser = isRoot ? ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] : [];

interface Settings {
  readonly prefix?: readonly string[];
  readonly without?: readonly string[];
  readonly unheld?: readonly string[];
}

/** Descriptor 77 is what Node and bubblewrap do not close by themselves. */
async function tryEscapes({ prefix = [], without = [], unheld = [] }: Settings): Promise<EscapeReport> {
  const command = [...prefix, process.execPath, program, without.join(), unheld.join()];
  const args = ["-c", 'exec 77</dev/null; exec "$@"', "bash", ...command];
  const child = spawn("bash", args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const piece of child.stdout) text += piece;
  return JSON.parse(text);
}

function readableFor(prefix: readonly string[]): boolean {
  const [file = "", ...args] = [...prefix, process.execPath, "--check", program];
  return spawnSync(file, args, { stdio: "ignore" }).status === 0;
}

function expectRefused({ results }: EscapeReport, ids: readonly string[]): void {
  expect(results.filter(({ outcome }) => outcome !== "refused")).toEqual([]);
  expect(results.map(({ id }) => id)).toEqual(ids);
  for (const { id, controls } of results) {
    expect(
      controls.map(({ name }) => name),
      id,
    ).toEqual(expect.arrayContaining(["own-write", "without-protection"]));
    expect(
      controls.filter(({ held }) => !held),
      id,
    ).toEqual([]);
  }
}

const all = escapeAttempts.map(({ id }) => id);
/** Only root succeeds with these even without a sandbox, so an ordinary user's refusals prove nothing. */
const forRoot = [
  "device-node",
  "device-mode",
  "raw-device",
  "bpf",
  "kernel-log",
  "file-handle",
  "core-pattern",
  "control-group",
  "clock",
  "perf-event",
];

describe("a sandbox of this package", () => {
  partTest("bubblewrap", "python3")(
    "refuses root's every attempt, with every control held",
    async (context) => {
      if (!isRoot || !hasControllers()) context.skip("needs root, and control groups that it may make");
      expect(all.length).toBeGreaterThanOrEqual(25);
      expectRefused(await tryEscapes({}), all);
    },
    180_000,
  );

  partTest("bubblewrap", "python3", "util-linux")(
    "refuses an ordinary user's every attempt, with every control held, but memory, whose limit it refuses to promise",
    async (context) => {
      if (!readableFor(asUser)) context.skip("needs a checkout that other users may read");
      const without = [...forRoot, "memory"];
      const report = await tryEscapes({ prefix: asUser, without, unheld: ["memoryBytes"] });
      expectRefused(
        report,
        all.filter((id) => !without.includes(id)),
      );
    },
    180_000,
  );
});
