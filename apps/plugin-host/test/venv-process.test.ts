import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { run } from "./plugin-host.js";
import { makeProcessWorld } from "./process-world.js";

const world = makeProcessWorld();
const { options } = world.state("state");
beforeAll(async () => {
  await world.create("shell", "good");
  chmodSync(join(await world.create("shell", "open"), "bin"), 0o777);
  writeFileSync(join(await world.create("shell", "odd"), "plugin.json"), '{"name":"odd","version":"one","more":1}');
});

interface Checks {
  readonly ok: boolean;
  readonly checks: readonly { readonly name: string; readonly status: string; readonly message: string }[];
}

async function doctor(config: string): Promise<Checks & { readonly code: number | null }> {
  const { code, stdout } = await run(["venv", "doctor", "--config", config, "--json", ...options]);
  const report: Checks = JSON.parse(stdout);
  return { code, ...report };
}

describe("venv doctor", () => {
  partTest("bubblewrap")("says of a process plugin what its folder is, and that its sandbox holds", async () => {
    const { code, checks } = await doctor(world.config("good.yaml", { good: "dir: good" }));
    expect(code).toBe(0);
    const named = (name: string): unknown => checks.find((check) => check.name === name);
    expect(named("plugin good")).toMatchObject({
      status: "ok",
      message: expect.stringMatching(/^1\.0\.0 in .*good, \d+ files, tree-v1:[0-9a-f]{64}$/u),
    });
    expect(named("sandbox of plugin good")).toMatchObject({ status: "ok" });
    expect(named("plugins folder")).toBeUndefined();
  });

  it("tells every fault of a folder, and fails where serve would not start", async () => {
    const entries = {
      odd: "dir: odd, hooks: [tool_pre_invoke], allow_unconfined: true",
      open: "dir: open, on_error: ignore, allow_unconfined: true",
    };
    const { code, checks } = await doctor(world.config("faults.yaml", entries));
    expect(code).toBe(0);
    const odd = checks.find(({ name }) => name === "plugin odd");
    expect(odd).toMatchObject({ status: "warn" });
    for (const word of ["version", "more", "protocol", "process"]) expect(odd?.message).toContain(word);
    const open = checks.find(({ name }) => name === "plugin open");
    expect(open?.message).toContain("bin may be written by its group or by others");
    const needed = await doctor(world.config("needed.yaml", { odd: "dir: odd, allow_unconfined: true" }));
    expect(needed).toMatchObject({ code: 1, ok: false });
    expect(needed.checks).toContainEqual(
      expect.objectContaining({
        name: "sandbox of plugin odd",
        status: "warn",
        message: expect.stringMatching(/without/u),
      }),
    );
  });

  it("tells the digest that is there and the one that was admitted", async () => {
    const pinned = `tree-v1:${"0".repeat(64)}`;
    const config = world.config("pinned.yaml", {
      good: `dir: good, digest: "${pinned}", allow_unconfined: true`,
    });
    const { code, checks } = await doctor(config);
    expect(code).toBe(1);
    const { message } = checks.find(({ name }) => name === "plugin good") ?? { message: "" };
    expect(message).toMatch(/has the digest tree-v1:[0-9a-f]{64}, and tree-v1:0{64} was admitted/u);
  });

  it("tells faults of entries with their lines", async () => {
    const { code, checks } = await doctor(world.config("entries.yaml", { good: "dirr: good" }));
    expect(code).toBe(1);
    expect(checks).toContainEqual(
      expect.objectContaining({
        status: "fail",
        message: expect.stringContaining("line 2: plugin good: dirr is no key"),
      }),
    );
  });
});

describe("venv build", () => {
  it("passes over process plugins, and says so of one that is named", async () => {
    const config = world.config("build.yaml", { good: "dir: good" });
    const all = await run(["venv", "build", "--config", config, "--json", ...options]);
    expect({ code: all.code, told: JSON.parse(all.stdout) }).toEqual({ code: 0, told: { plugins: [] } });
    const named = await run(["venv", "build", "good", "--config", config, ...options]);
    expect(named).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("plugin good is of the kind process: it has no environment to build"),
    });
  });
});
