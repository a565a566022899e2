import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { escapeAttempts } from "@berth/process-confinement/escapes";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { type CheckFinding, checkPlugin } from "../src/check.js";
import { fixturePlugins, fixturesFolder, skipWithoutPart } from "./support/fixture-plugins.js";

const isRoot = process.getuid?.() === 0;
/** Only root succeeds with these even without a sandbox: an ordinary user's refusals prove nothing, and are skipped. */
const rootAlone = ["device-node", "other-user", "bpf"];
/** A kernel may be built or set up without these, for everybody. */
const machines = ["io-uring", "ptrace", "keyring"];

let scratch = "";
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "escapes-"));
  spawnSync("chmod", ["-R", "go-w", fixturesFolder]); // git does not hold these bits
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function escapesOf(findings: readonly CheckFinding[]): readonly CheckFinding[] {
  return findings.filter(({ name }) => name.startsWith("escape:"));
}

function find(findings: readonly CheckFinding[], name: string): CheckFinding {
  const found = findings.find((finding) => finding.name === name);
  if (found === undefined) throw new Error(`no finding ${name}`);
  return found;
}

function heldControls({ controls = [] }: CheckFinding): readonly string[] {
  return controls.filter(({ held }) => held).map(({ name }) => name);
}

describe("the plugin's own process, whatever its language", () => {
  for (const plugin of fixturePlugins) {
    partTest("bubblewrap", ...plugin.parts)(
      `${plugin.name} cannot read secrets or reach the host, and without the sandbox it does both`,
      async (context) => {
        skipWithoutPart(context, plugin);
        const { findings } = await checkPlugin({ folder: join(fixturesFolder, plugin.name), escapes: "own" });
        const escapes = escapesOf(findings);
        expect(escapes.filter(({ outcome }) => outcome === "failed")).toEqual([]);
        const secrets = find(escapes, "escape:escape_secrets");
        const network = find(escapes, "escape:escape_network");
        expect([secrets.outcome, network.outcome]).toEqual(["passed", "passed"]);
        expect(heldControls(secrets)).toEqual(["own-write", "answered", "host-reads", "without-protection"]);
        expect(heldControls(network)).toEqual([
          ...["own-write", "answered", "host-reaches", "no-arrival", "without-protection"],
        ]);
        expectExcused(escapes);
      },
      300_000,
    );
  }
});

/** What is neither refused with every control nor beyond the language can only be what this user or this machine cannot show. */
function expectExcused(escapes: readonly CheckFinding[]): void {
  const left = escapes.filter(({ outcome, seen }) => outcome !== "passed" && seen !== "the plugin cannot express it");
  const excused = [...machines, ...(isRoot ? [] : rootAlone)].map((id) => `escape:plugin/${id}`);
  expect(left.filter(({ name }) => !excused.includes(name))).toEqual([]);
  const tried = escapes.filter(({ outcome, name }) => outcome === "passed" && name.startsWith("escape:plugin/"));
  expect(tried.length).toBeGreaterThanOrEqual(5);
}

describe("the whole kit, in the sandbox of a plugin", () => {
  partTest("bubblewrap", "python3")(
    "is refused, each attempt with every control held",
    async (context) => {
      if (!isRoot) context.skip("needs root: the controls of some attempts succeed for nobody else");
      const { findings, ok } = await checkPlugin({ folder: join(fixturesFolder, "smoke-shell"), escapes: true });
      expect(ok).toBe(true);
      for (const { id } of escapeAttempts) {
        const { outcome, seen, controls = [] } = find(findings, `escape:${id}`);
        expect({ id, outcome, seen }).toEqual({ id, outcome: "passed", seen });
        expect(controls.filter(({ held }) => !held)).toEqual([]);
        expect(controls.map(({ name }) => name)).toEqual(expect.arrayContaining(["own-write", "without-protection"]));
      }
    },
    300_000,
  );
});

describe("a plugin whose word cannot be taken", () => {
  /** smoke-python with one function of its tools replaced. */
  function variant(name: string, code: string): string {
    const folder = join(scratch, name);
    cpSync(join(fixturesFolder, "smoke-python"), folder, { recursive: true });
    spawnSync("chmod", ["-R", "go-w", folder]);
    const tools = join(folder, "smoke_tools.py");
    writeFileSync(tools, `${readFileSync(tools, "utf8")}\n\n${code}\n`);
    return folder;
  }

  partTest("bubblewrap", "python3")("that says refused whatever happens proves nothing", async () => {
    const code = [
      'REFUSED = {"outcome": "refused", "errno": 2, "name": "ENOENT"}',
      'CONTROL = {"wrote": True, "readBack": True, "equal": True}',
      'CALLS["escape_secrets"] = lambda **_: {"control": CONTROL, "secrets": REFUSED, "other": REFUSED}',
      'CALLS["escape_network"] = lambda **_: REFUSED',
    ].join("\n");
    const { findings, ok } = await checkPlugin({ folder: variant("liar", code), escapes: "own" });
    for (const name of ["escape:escape_secrets", "escape:escape_network"]) {
      const { outcome, seen } = find(findings, name);
      expect({ name, outcome }).toEqual({ name, outcome: "failed" });
      expect(seen).toContain("without-protection (without the sandbox: refused (ENOENT)");
    }
    expect(ok).toBe(false);
  });

  partTest("bubblewrap", "python3")("that cannot even write a file of its own proves nothing", async () => {
    const code = [
      "honest = CALLS['escape_secrets']",
      'NOTHING = {"wrote": False, "readBack": False, "equal": False}',
      'CALLS["escape_secrets"] = lambda **aim: {**honest(**aim), "control": NOTHING}',
    ].join("\n");
    const { findings } = await checkPlugin({ folder: variant("idle", code), escapes: "own" });
    expect(find(findings, "escape:escape_secrets")).toMatchObject({
      outcome: "failed",
      seen: expect.stringContaining("own-write (confined, it did not write and read a file of its own)"),
    });
  });

  partTest("bubblewrap", "python3")("that says it read something is believed, and fails", async () => {
    const code = [
      "honest = CALLS['escape_secrets']",
      'CALLS["escape_secrets"] = lambda **aim: {**honest(**aim), "other": {"outcome": "read", "bytes": 1, "sha256": "00"}}',
    ].join("\n");
    const { findings } = await checkPlugin({ folder: variant("boaster", code), escapes: "own" });
    expect(find(findings, "escape:escape_secrets")).toMatchObject({
      outcome: "failed",
      seen: expect.stringContaining("it succeeded: refused (ENOENT), succeeded"),
    });
  });

  partTest("bubblewrap")("without such tools is told so by name, and the kit is for it all the same", async () => {
    const { newPlugin } = await import("../src/check.js");
    const { folder } = await newPlugin({ language: "shell", name: "plain", folder: join(scratch, "plain") });
    const { findings, ok } = await checkPlugin({ folder, escapes: "own" });
    expect(escapesOf(findings).map(({ name, outcome, seen }) => ({ name, outcome, seen }))).toEqual([
      { name: "escape:escape_secrets", outcome: "skipped", seen: "the plugin has no such tool" },
      { name: "escape:escape_network", outcome: "skipped", seen: "the plugin has no such tool" },
    ]);
    expect(ok).toBe(true);
  });
});
