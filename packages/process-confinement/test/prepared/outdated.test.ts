import { copyFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
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

  itInside("once bubblewrap was replaced, as by an update", async () => {
    const update = (bubblewrap: string): void => {
      copyFileSync(bubblewrap, `${bubblewrap}.new`);
      renameSync(`${bubblewrap}.new`, bubblewrap);
    };
    expect(await sayAfter(update, "echo said")).toBe("said\n");
  });
});
