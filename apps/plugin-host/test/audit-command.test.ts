import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSessionLog } from "@berth/audit-chain";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openStateFolder } from "../src/state-folder.js";
import { run } from "./plugin-host.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "bph-audit-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const state = join(folder, "state");
const audit = (...args: readonly string[]) => run(["audit", ...args, "--state", state]);

beforeAll(async () => {
  const places = await openStateFolder(state);
  const log = await openSessionLog({ folder: places.audit, opening: { program: "test" }, now: Date.now });
  for (const plugin of ["pii", "words", "pii"]) {
    await log.append({ type: "plugin.decision", plugin, hook: "tool_pre_invoke", status: "allowed" });
  }
  await log.close("end");
});

it("audit tail prints the newest entries for people, those of one plugin on demand, and all for programs", async () => {
  const newest = await audit("tail", "-n", "2");
  expect(
    newest.stdout
      .trim()
      .split("\n")
      .map((line) => line.split(/\s+/u)[2]),
  ).toEqual(["plugin.decision", "session.close"]);
  const ofWords = (await audit("tail", "--plugin", "words")).stdout;
  expect(ofWords.trim().split("\n")).toEqual([
    expect.stringMatching(/plugin=words {2}hook=tool_pre_invoke {2}status=allowed/u),
  ]);
  const all = (await audit("tail", "--json")).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(all.map(({ seq, type }) => [seq, type])).toEqual([
    [1, "session.open"],
    [2, "plugin.decision"],
    [3, "plugin.decision"],
    [4, "plugin.decision"],
    [5, "session.close"],
  ]);
});

it("audit says that nothing has run yet, which is no fault", async () => {
  const none = join(folder, "none");
  expect(await run(["audit", "verify", "--state", none])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("no logs"),
  });
  expect(JSON.parse((await run(["audit", "verify", "--json", "--state", none])).stdout)).toMatchObject({
    ok: true,
    logs: [],
  });
  expect(await run(["audit", "tail", "--state", none])).toMatchObject({ code: 0, stdout: "" });
});

it("audit refuses a number of lines that is none", async () => {
  expect(await audit("tail", "-n", "many")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--lines must be 1 to 100000"),
  });
});

it("audit verify names the entry that was changed, and ends with 1; audit tail tells of it, too", async () => {
  expect(await audit("verify")).toMatchObject({ code: 0, stdout: expect.stringContaining("verified") });
  const [log = ""] = readdirSync(join(state, "audit"));
  const segment = readdirSync(join(state, "audit", log)).find((name) => name.endsWith(".jsonl")) ?? "";
  const path = join(state, "audit", log, segment);
  writeFileSync(path, readFileSync(path, "utf8").replace('"words"', '"swear"'));
  expect(await audit("verify")).toMatchObject({ code: 1, stdout: expect.stringMatching(/entry 3: HASH_MISMATCH/u) });
  expect(await audit("tail")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("see berth-plugin-host audit verify"),
  });
});
