import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { run } from "./plugin-host.js";
import { fixturesFolder, livingIn, makeProcessWorld } from "./process-world.js";

const world = makeProcessWorld();
const golden = readFileSync(join(fixturesFolder, "smoke-shell", "expected.jsonl"), "utf8");
let smoke = "";
beforeAll(() => {
  smoke = world.fixture("smoke-shell");
});

/** A copy whose plugin is changed. */
function variant(name: string): string {
  const folder = join(world.folder, name);
  cpSync(smoke, folder, { recursive: true });
  return folder;
}

const confined = (title: string, test: () => unknown, timeoutMs = 120_000): void =>
  partTest("bubblewrap")(title, test, timeoutMs);

interface Report {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly name: string;
    readonly outcome: string;
    readonly seen: string;
    readonly controls?: readonly { readonly name: string; readonly held: boolean }[];
  }[];
}

describe("check", () => {
  confined("says of each thing that it looked at that it holds, and ends with 0", async () => {
    const { code, stdout, stderr } = await run(["check", smoke]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\nsmoke passes(, \d+ skipped)?\n$/u),
    });
    for (const name of ["manifest", "tree", "confinement", "start", "protocol", "transcript", "end", "input-end"])
      expect(stdout).toContain(`ok      ${name}: `);
    expect(stdout).toMatch(/\ndigest {2}tree-v1:[0-9a-f]{64}\n/u);
    expect(stderr).toContain("try the sandbox\n");
  });

  confined("gives the report as JSON", async () => {
    const { code, stdout } = await run(["check", smoke, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      plugin: "smoke",
      digest: expect.stringMatching(/^tree-v1:[0-9a-f]{64}$/u),
      findings: expect.arrayContaining([{ name: "manifest", outcome: "passed", seen: expect.any(String) }]),
    });
  });

  confined("writes the transcript with --record, which is then what it is compared with", async () => {
    const folder = variant("recorded");
    const transcript = join(folder, "expected.jsonl");
    rmSync(transcript);
    const missing = await run(["check", folder]);
    expect(missing).toMatchObject({ code: 1, stdout: expect.stringContaining("there is no expected.jsonl") });
    const { code, stdout } = await run(["check", folder, "--record"]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`wrote   ${transcript}\n`) });
    expect(readFileSync(transcript, "utf8")).toBe(golden);
    expect(await run(["check", folder])).toMatchObject({ code: 0 });
  });

  confined("shows the first line that differs: its number, what was expected, what came", async () => {
    const folder = variant("differs");
    const lines = golden.split("\n");
    const wrong = lines.map((line, at) => (at === 5 ? line.replace('"ok"', '"fine"') : line));
    writeFileSync(join(folder, "expected.jsonl"), wrong.join("\n"));
    const { code, stdout } = await run(["check", folder]);
    expect(code).toBe(1);
    expect(stdout).toContain(`line 6\n        expected ${wrong[5]}\n        received ${lines[5]}\n`);
    expect(stdout).toMatch(/smoke FAILS: 1 of \d+ findings/u);
    const told = await run(["check", folder, "--json"]);
    expect(JSON.parse(told.stdout)).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([
        expect.objectContaining({
          name: "transcript",
          outcome: "failed",
          difference: { line: 6, expected: wrong[5], received: lines[5] },
        }),
      ]),
    });
  });

  const broken = fileURLToPath(new URL("../../../fixtures/broken-plugins/", import.meta.url));
  it.each([
    { name: "not-json", words: "FAILED  manifest: plugin.json is not JSON" },
    { name: "misspelled-keys", words: "process.env.LD_PRELOAD is a reserved name" },
    { name: "not-executable", words: "process.command ./bin/plugin has no execute bit" },
  ])("ends with 1 and the reason for $name", async ({ name, words }) => {
    const folder = join(world.folder, name);
    cpSync(join(broken, name), folder, { recursive: true });
    const { code, stdout } = await run(["check", folder]);
    expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining(words) });
  });

  for (const { name, words } of [
    { name: "noisy-stdout", words: "it wrote a line that is not JSON (loading...)" },
    { name: "exits-at-start", words: "its last line of standard error: cannot find my configuration" },
    { name: "prepare-fails", words: "sh ended with 3: no compiler here" },
  ])
    confined(`ends with 1 and the reason for ${name}`, async () => {
      const { code, stdout } = await run(["check", join(broken, name)]);
      expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining(words) });
    });

  confined("runs the command of --prepare, and none with --no-prepare, in its copy only", async () => {
    const folder = variant("prepared");
    renameSync(join(folder, "bin", "plugin"), join(folder, "bin", "plugin.in"));
    const prepared = await run(["check", folder, "--prepare", "cp bin/plugin.in bin/plugin"]);
    expect(prepared).toMatchObject({ code: 0, stdout: expect.stringContaining("ok      prepare: ") });
    expect(existsSync(join(folder, "bin", "plugin"))).toBe(false);
    writeFileSync(join(folder, "check.json"), '{"prepare":["cp","bin/plugin.in","bin/plugin"]}');
    const missing = "process.command ./bin/plugin is missing";
    const without = await run(["check", folder, "--no-prepare"]);
    expect(without).toMatchObject({ code: 1, stdout: expect.stringContaining(missing) });
  });

  it.each([
    { args: ["check", "/nowhere/at/all"], words: "folder is no folder" },
    { args: ["check", "/", "--prepare", " "], words: "--prepare names no command" },
  ])("ends with 2 for $args", async ({ args, words }) => {
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });

  confined("leaves no copy and no process when it is told to end", async () => {
    const folder = join(world.folder, "tmp");
    mkdirSync(folder);
    const { code, stderr } = await run(["check", smoke], "", "start it and ask", { TMPDIR: folder });
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("ended by SIGINT") });
    expect(readdirSync(folder)).toEqual([]);
    expect(livingIn(folder)).toEqual([]);
  });
});

describe("check --escapes", () => {
  partTest("bubblewrap", "python3")(
    "tells of each attempt what became of it, and which control shows that it could have succeeded",
    async () => {
      const { code, stdout } = await run(["check", smoke, "--escapes", "--json"]);
      const { ok, findings }: Report = JSON.parse(stdout);
      const escapes = findings.filter(({ name }) => name.startsWith("escape:"));
      expect(escapes.filter(({ outcome }) => outcome === "failed")).toEqual([]);
      expect({ ok, code }).toEqual({ ok: true, code: 0 });
      const passed = escapes.filter(({ outcome }) => outcome === "passed");
      expect(passed.map(({ name }) => name)).toEqual(
        expect.arrayContaining([
          "escape:escape_secrets",
          "escape:escape_network",
          "escape:secret-path",
          "escape:double-fork",
        ]),
      );
      for (const { name, controls = [] } of passed) {
        expect(controls.length, name).toBeGreaterThan(0);
        expect(controls.filter(({ held }) => !held)).toEqual([]);
      }
    },
    290_000,
  );
});
