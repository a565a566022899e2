import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { childrenOf, isAlive, markProcess } from "../../src/identity/process-identity.js";
import { createPreparedSandboxesOn } from "../../src/prepared-sandboxes.js";
import { thisHost } from "../../src/start/host.js";
import { readAll } from "../sandboxes.js";

const itInside = partTest("bubblewrap");

/** What a command says in a sandbox that is opened after one waited, and a change. Whatever waited before is gone then. */
async function sayAfter(change: (bubblewrap: string) => void, script: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "berth-outdated-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bubblewrap = join(folder, "bwrap");
  copyFileSync("/usr/bin/bwrap", bubblewrap);
  const usual = thisHost();
  const host = { ...usual, findTool: (name: string) => (name === "bwrap" ? bubblewrap : usual.findTool(name)) };
  await using prepared = createPreparedSandboxesOn(host, { name: "outdated", policy: {}, file: "/bin/sh" });
  await prepared.ready();
  const waited = childrenOf(process.pid).map(markProcess);
  expect(waited).toHaveLength(1);
  change(bubblewrap);
  await using sandbox = await prepared.open({ args: ["-c", script], env: { PATH: "/usr/bin:/bin" } });
  expect(waited.map(({ pid }) => pid)).not.toContain(sandbox.identity.outer.pid);
  const said = await readAll(sandbox.stdout);
  await prepared.close();
  expect(waited.filter(isAlive)).toEqual([]);
  return said;
}

describe("a prepared sandbox is not used", () => {
  itInside("by a host that has another umask since", async () => {
    const usual = process.umask();
    onTestFinished(() => void process.umask(usual));
    expect(await sayAfter(() => void process.umask(0o027), "umask")).toBe("0027\n");
  });

  itInside("by a host that has another nice value since", async () => {
    const usual = getPriority();
    // Only root may go back.
    if (process.getuid?.() === 0) onTestFinished(() => setPriority(usual));
    const nice = Math.min(usual + 3, 19);
    expect(await sayAfter(() => setPriority(nice), "nice")).toBe(`${nice}\n`);
  });

  itInside("by a host that is to be killed sooner since", async () => {
    const file = "/proc/self/oom_score_adj";
    const usual = readFileSync(file, "utf8");
    onTestFinished(() => writeFileSync(file, usual));
    const sooner = Math.min(Number(usual) + 7, 1000);
    expect(await sayAfter(() => writeFileSync(file, `${sooner}`), "cat /proc/self/oom_score_adj")).toBe(`${sooner}\n`);
  });

  partTest("bubblewrap", "util-linux")("by a host that has other processors since", async ({ skip }) => {
    const taskset = (...args: string[]): string => execFileSync("taskset", args, { encoding: "utf8" });
    const usual = /\S+$/.exec(taskset("-cp", `${process.pid}`).trim())?.[0] ?? "";
    if (/^\d+$/.test(usual)) skip("needs two processors");
    onTestFinished(() => void taskset("-cp", usual, `${process.pid}`));
    const one = usual.split(/[,-]/)[0] ?? "";
    const said = await sayAfter(
      () => void taskset("-cp", one, `${process.pid}`),
      "sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status",
    );
    expect(said).toBe(`${one}\n`);
  });

  itInside("once bubblewrap was replaced, as by an update", async () => {
    const update = (bubblewrap: string): void => {
      copyFileSync(bubblewrap, `${bubblewrap}.new`);
      renameSync(`${bubblewrap}.new`, bubblewrap);
    };
    expect(await sayAfter(update, "echo said")).toBe("said\n");
  });
});
