import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clearDeadChecks, makeCheckFolder } from "../../src/check/check-folders.js";

let scratch = "";
let usualTmp: string | undefined;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "check-folders-"));
  usualTmp = process.env["TMPDIR"];
  process.env["TMPDIR"] = scratch;
});
afterEach(() => {
  if (usualTmp === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = usualTmp;
  rmSync(scratch, { recursive: true, force: true });
});

/** A pid that was used, and is not any more. */
async function usedPid(): Promise<number> {
  const child = spawn("true");
  await once(child, "exit");
  return child.pid ?? 0;
}

describe("what a killed check left", () => {
  it("is cleared by the next one, with what is in it; that of a living one stays", async () => {
    const own = basename(await makeCheckFolder());
    const dead = own.replace(`-${process.pid}-`, `-${await usedPid()}-`);
    mkdirSync(join(scratch, dead, "plugin"), { recursive: true });
    writeFileSync(join(scratch, dead, "plugin", "file"), "left");
    await clearDeadChecks();
    expect(readdirSync(scratch)).toEqual([own]);
  });

  it("is known by the time at which its process was started, since a pid is used again", async () => {
    const own = basename(await makeCheckFolder());
    const earlier = own.replace(/-\d+-([A-Za-z0-9]{6})$/, "-1-$1");
    mkdirSync(join(scratch, earlier));
    await clearDeadChecks();
    expect(readdirSync(scratch)).toEqual([own]);
  });

  it("is not taken for it: what has another name, is a file, or is of another boot or namespace", async () => {
    const own = basename(await makeCheckFolder());
    const dead = own.replace(`-${process.pid}-`, `-${await usedPid()}-`);
    const [, , boot = "", space = ""] = own.split("-");
    const others = ["berth-check-abcdef", `${dead}.kept`, dead.replace(boot, "00000000"), dead.replace(space, "1")];
    for (const name of others) mkdirSync(join(scratch, name));
    writeFileSync(join(scratch, dead), "a file");
    await clearDeadChecks();
    expect(readdirSync(scratch).sort()).toEqual([own, dead, ...others].sort());
  });
});
