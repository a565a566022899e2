import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { createUnconfinedProvider, type ManagedProvider, type ProfileTerms, readProfile } from "../src/index.js";

const pythonTest = partTest("python3");
const name = `mcp-${"0123456789ab".repeat(2)}`;

function profile(): ProfileTerms {
  return readProfile("plain", {
    provider: "unconfined",
    template: "/usr/bin/python3",
    platform: process.platform,
    policy: { network: "internet", elevation: true },
    shell: true,
  });
}

describe("an unconfined environment", () => {
  let folder: string;
  let provider: ManagedProvider;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-unconfined-"));
    provider = await createUnconfinedProvider({ folder });
  });
  afterEach(async () => {
    await provider.close();
    await rm(folder, { recursive: true, force: true });
  });

  pythonTest("runs a command to its end and tells its status and output", async () => {
    await using environment = await provider.create(name, profile(), { deadlineMs: 60_000 });
    const result = await environment.run(["sh", "-c", "cat; echo oops >&2; exit 3"], { stdin: Buffer.from("hello") });
    expect(result).toMatchObject({ exitCode: 3, signal: undefined, stdoutBytes: 5, stderrBytes: 5 });
    expect(Buffer.from(result.stdout).toString()).toBe("hello");
  });

  pythonTest("leaves nothing behind", async () => {
    const environment = await provider.create(name, profile(), { deadlineMs: 60_000 });
    await environment.run(["sh", "-c", "setsid sleep 1000 & sleep 1000 &"]);
    await environment.close();
    expect(await provider.exists(name)).toBe("no");
    expect(await provider.listWorkers()).toEqual([]);
    expect(await readdir(folder)).toEqual(["guest"]);
    expect(await environment.ended).toEqual({ reason: "closed", detail: "closed" });
  });
});
