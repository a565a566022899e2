import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { defaultConfig, loadConfig } from "../src/config.js";
import { readConfig } from "../src/config-read.js";

const problems = (text: string) => {
  const reading = readConfig(text);
  return reading.ok ? [] : reading.problems;
};

describe("gateway.yaml", () => {
  it.each([
    ["nothing", ""],
    ["a comment", "# mine\n"],
    ["an empty mapping", "{}"],
    ["empty sections", "attestation: {}\naudit: {}\n"],
  ])("is the default configuration when it holds %s", (_name, text) => {
    expect(readConfig(text)).toEqual({ ok: true, value: defaultConfig });
  });

  it("reads every key", () => {
    const text = [
      "names: plain",
      "attestation: { allowUnmeasuredSpawn: true, guard: snapshot }",
      "audit:",
      "  durability: each",
      "deadlines: { startMs: 1, listMs: 2, callMs: 3, callMaxMs: 86400000 }",
      "limits: { maxFrameBytes: 1024, maxQueuedBytes: 2048 }",
      "log: { level: debug }",
    ].join("\n");
    expect(readConfig(text)).toEqual({
      ok: true,
      value: {
        names: "plain",
        attestation: { allowUnmeasuredSpawn: true, guard: "snapshot" },
        audit: { durability: "each" },
        deadlines: { startMs: 1, listMs: 2, callMs: 3, callMaxMs: 86_400_000 },
        limits: { maxFrameBytes: 1024, maxQueuedBytes: 2048 },
        log: { level: "debug" },
      },
    });
  });

  it.each([
    { name: "a path", text: "plugins: p/plugins.yaml", cwd: "p", index: { from: "default" } },
    {
      name: "what environments need",
      text: "plugins: { file: plugins.yaml, cwd: code, index: 'https://x' }",
      cwd: "code",
      index: { from: "index", url: "https://x" },
    },
    {
      name: "wheels",
      text: "plugins: { file: plugins.yaml, wheels: [w] }",
      cwd: ".",
      index: { from: "wheels", folders: ["w"] },
    },
  ])("names plugins by $name, relative to itself", async ({ text, cwd, index }) => {
    const folder = await mkdtemp(join(tmpdir(), "berth-config-"));
    try {
      await writeFile(join(folder, "gateway.yaml"), text);
      const { plugins } = await loadConfig(join(folder, "gateway.yaml"));
      expect(plugins?.cwd).toBe(join(folder, cwd));
      expect(plugins?.file.endsWith("plugins.yaml")).toBe(true);
      const folders = index.folders?.map((one) => join(folder, one));
      expect(plugins?.index).toEqual(folders === undefined ? index : { ...index, folders });
      expect(plugins).toMatchObject({ installer: "auto", requireHashes: false, onlyWheels: false });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each([
    ["index and wheels", "plugins: { file: a, index: b, wheels: [c] }"],
    ["confined installs that need a network", "plugins: { file: a, confineInstalls: true }"],
    ["an unknown key", "plugins: { file: a, folder: b }"],
    ["no file", "plugins: { wheels: [c] }"],
    ["a number", "plugins: 3"],
  ])("refuses plugins with %s", (_name, text) => {
    expect(problems(text)).toMatchObject([{ line: 1, message: expect.stringContaining("plugins") }]);
  });

  it("reports unknown keys at any level, each with its line", () => {
    const text =
      "names: plain\nattestation:\n  allowUnmeasuredSpawn: false\n  allow_unmeasured_spawn: true\nlisten: 8080\n";
    expect(problems(text)).toEqual([
      { line: 4, message: "attestation.allow_unmeasured_spawn is an unknown key" },
      { line: 5, message: "listen is an unknown key" },
    ]);
  });

  it.each([
    ["a name style that does not exist", "names: short", 1],
    ["a word for a flag", "attestation:\n  allowUnmeasuredSpawn: 'yes'", 2],
    ["YAML 1.1's yes", "attestation:\n  allowUnmeasuredSpawn: yes", 2],
    ["a guard that does not exist", "attestation:\n  guard: strict", 2],
    ["a durability that does not exist", "audit:\n  durability: always", 2],
    ["a deadline under its range", "deadlines:\n  callMs: 0", 2],
    ["a deadline over its range", "deadlines:\n  callMs: 86400001", 2],
    ["a deadline with a fraction", "deadlines:\n  callMs: 1.5", 2],
    ["a deadline with a unit", "deadlines:\n  callMs: 30s", 2],
    ["a limit under its range", "limits:\n  maxFrameBytes: 1023", 2],
    ["a limit over its range", "limits:\n  maxFrameBytes: 67108865", 2],
    ["a log level that does not exist", "log:\n  level: loud", 2],
    ["a section that is a text", "audit: each", 1],
    ["a list", "- names", 1],
    ["a key twice", "names: plain\nnames: prefixed", 2],
    ["two documents", "names: plain\n---\nnames: plain", 2],
    ["no YAML", "names: [plain", 1],
    ["an unknown tag", "names: !!js/function 'x'", 1],
  ])("refuses %s and names its line", (_name, text, line) => {
    expect(problems(text)[0]?.line).toBe(line);
  });

  it("is read from the named file only, and every problem is in one message", async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-config-"));
    try {
      const file = join(folder, "gateway.yaml");
      await writeFile(file, "nams: plain\nlog: { level: loud }\n");
      await expect(loadConfig(file)).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        message: "the configuration has 2 problems",
        lines: [`${file}:1  nams is an unknown key`, expect.stringContaining(`${file}:2  log.level`)],
      });
      await expect(loadConfig(join(folder, "absent.yaml"))).rejects.toMatchObject({ code: "CONFIG_INVALID" });
      expect(await loadConfig(undefined)).toBe(defaultConfig);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("gives a report for any text", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "names",
        "log",
        ": ",
        "\n",
        "  ",
        "- ",
        "{",
        "}",
        "[",
        "*a",
        "&a ",
        "!!",
        "<<",
        "|",
        "'",
        '"',
        "#",
        "---\n",
      ),
      fc.string({ maxLength: 3, unit: "binary" }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const reading = readConfig(pieces.join(""));
        expect(reading.ok || reading.problems.every(({ line }) => line >= 1)).toBe(true);
      }),
      { numRuns: scaledCount("configurations", 20_000) },
    );
  }, 120_000);
});
