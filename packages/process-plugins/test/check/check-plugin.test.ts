import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { type CheckReport, checkPlugin } from "../../src/check.js";

const fixtures = fileURLToPath(new URL("../../../../fixtures/broken-plugins/", import.meta.url));
let scratch = "";
let usualTmp: string | undefined;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "check-plugin-"));
  usualTmp = process.env["TMPDIR"];
  // Whatever a check makes, it makes here: nothing of it may be left.
  process.env["TMPDIR"] = scratch;
});
afterEach(() => {
  if (usualTmp === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = usualTmp;
  rmSync(scratch, { recursive: true, force: true });
});

/** A lawful plugin without a transcript. */
function stage(name = "missing-transcript"): string {
  const folder = join(scratch, "plugin");
  cpSync(join(fixtures, name), folder, { recursive: true, verbatimSymlinks: true });
  spawnSync("chmod", ["-R", "go-w", folder]);
  return folder;
}

function outcomes({ findings }: CheckReport): Readonly<Record<string, string>> {
  return Object.fromEntries(findings.map(({ name, outcome }) => [name, outcome]));
}

function seen({ findings }: CheckReport, name: string): string | undefined {
  return findings.find((finding) => finding.name === name)?.seen;
}

describe("a transcript that is recorded", () => {
  partTest("bubblewrap")("is written whole, says where, and is what the next check goes by", async () => {
    const folder = stage();
    const recorded = await checkPlugin({ folder, record: true });
    const path = join(folder, "expected.jsonl");
    expect(recorded).toMatchObject({ ok: true, recorded: path, plugin: "missing-transcript" });
    expect(readdirSync(folder).sort()).toEqual(["bin", "expected.jsonl", "plugin.json"]);
    expect(lstatSync(path).mode & 0o777).toBe(0o644);
    const again = await checkPlugin({ folder });
    expect(outcomes(again)["transcript"]).toBe("passed");
    expect(again).toMatchObject({ ok: true, recorded: undefined });
  });

  partTest("bubblewrap")("counts in the digest that is told: the next check tells the same", async () => {
    const folder = stage("wrong-transcript");
    const { digest, findings } = await checkPlugin({ folder, record: true });
    const again = await checkPlugin({ folder });
    expect(digest).toMatch(/^tree-v1:/);
    expect(again.digest).toBe(digest);
    expect(findings.find(({ name }) => name === "tree")?.seen).toContain(digest);
  });

  partTest("bubblewrap")("keeps the header of the one before", async () => {
    const folder = stage();
    writeFileSync(join(folder, "expected.jsonl"), '{"title":"mine"}\n');
    await checkPlugin({ folder, record: true });
    expect(readFileSync(join(folder, "expected.jsonl"), "utf8")).toMatch(/^\{"title":"mine"\}\n\{"dir":"host"/);
    expect((await checkPlugin({ folder })).ok).toBe(true);
  });

  partTest("bubblewrap")("replaces a link, and not what it leads to", async () => {
    const folder = stage();
    const kept = join(folder, "kept");
    writeFileSync(kept, "mine");
    symlinkSync("kept", join(folder, "expected.jsonl"));
    expect(seen(await checkPlugin({ folder }), "transcript")).toBe("expected.jsonl is a link");
    expect((await checkPlugin({ folder, record: true })).ok).toBe(true);
    expect(readFileSync(kept, "utf8")).toBe("mine");
    expect(lstatSync(join(folder, "expected.jsonl")).isFile()).toBe(true);
  });

  partTest("bubblewrap")("is never one of unlawful answers", async () => {
    const folder = stage("no-gate");
    rmSync(join(folder, "expected.jsonl"));
    const report = await checkPlugin({ folder, record: true });
    expect(report).toMatchObject({ ok: false, recorded: undefined });
    expect(outcomes(report)).toMatchObject({ protocol: "failed", transcript: "skipped" });
    expect(existsSync(join(folder, "expected.jsonl"))).toBe(false);
  });
});

describe("a check", () => {
  partTest("bubblewrap")("leaves the plugin's folder as it was, and nothing of its own", async () => {
    const folder = stage("wrong-transcript");
    const before = spawnSync("ls", ["-lR", "--time-style=full-iso", folder], { encoding: "utf8" }).stdout;
    await checkPlugin({ folder, escapes: "own" });
    expect(spawnSync("ls", ["-lR", "--time-style=full-iso", folder], { encoding: "utf8" }).stdout).toBe(before);
    expect(readdirSync(scratch)).toEqual(["plugin"]);
  });

  partTest("bubblewrap")("tells the first line that differs, expected and received", async () => {
    const { findings } = await checkPlugin({ folder: stage("wrong-transcript") });
    const difference = findings.find(({ name }) => name === "transcript")?.difference;
    const line = (status: string): string =>
      `{"dir":"plugin","msg":{"id":3,"jsonrpc":"2.0","result":{"status":"${status}"}}}`;
    expect(difference).toEqual({ line: 6, expected: line("degraded"), received: line("ok") });
  });

  partTest("bubblewrap")("says of a transcript that cannot be read which line it is", async () => {
    const folder = stage();
    writeFileSync(join(folder, "expected.jsonl"), "{}\n");
    expect(seen(await checkPlugin({ folder }), "transcript")).toMatch(/^line 1 of expected\.jsonl: /);
  });

  partTest("bubblewrap")("tells each step when it begins, and what prepare writes", async () => {
    const folder = stage();
    const steps: string[] = [];
    const texts: string[] = [];
    await checkPlugin({
      folder,
      prepare: ["sh", "-c", "echo preparing"],
      onStep: (step) => steps.push(step),
      onLog: ({ text }) => texts.push(text),
    });
    expect(texts).toEqual(["preparing"]);
    expect(steps).toEqual([
      `copy ${folder}`,
      "prepare, with your rights and outside of any sandbox: sh -c echo preparing",
      "measure the copy",
      "try the sandbox",
      "start it and ask",
      "end its input",
    ]);
  });

  partTest("bubblewrap")("goes where a link leads, whose own mode says nothing", async () => {
    const folder = stage("wrong-transcript");
    const link = join(scratch, "link");
    symlinkSync("plugin", link);
    const report = await checkPlugin({ folder: link });
    expect(report.digest).toBe((await checkPlugin({ folder })).digest);
    expect(outcomes(report)).toMatchObject({ tree: "passed", transcript: "failed", "input-end": "passed" });
  });

  it("tells what is wrong with a #! line in words of a plugin", async () => {
    const folder = stage();
    for (const [script, words] of [
      ["#!/bin/sh\r\n", "ends in a carriage return"],
      ["echo hello\n", "bin/plugin"],
      ["#!/opt/none/perl\n", "/opt/none/perl"],
    ] as const) {
      writeFileSync(join(folder, "bin/plugin"), script);
      const { findings } = await checkPlugin({ folder, allowUnconfined: true });
      const tree = findings.find(({ name }) => name === "tree");
      expect(tree).toMatchObject({ outcome: "failed", seen: expect.stringContaining(words) });
      expect(tree?.advice).toMatch(/^correct the #! line .*--interpreter$/);
    }
  });

  it("says which bit is missing, and how it is set", async () => {
    const { findings } = await checkPlugin({ folder: stage("not-executable"), allowUnconfined: true });
    expect(findings.find(({ name }) => name === "tree")?.advice).toContain("chmod +x the file of process.command");
  });

  it("names an interpreter that is not there as what was given", async () => {
    const attempt = checkPlugin({ folder: stage(), interpreters: ["/nothing/perl"] });
    const fault = { code: "OPTION_INVALID", message: "interpreters: /nothing/perl is not there" };
    await expect(attempt).rejects.toMatchObject(fault);
    expect(readdirSync(scratch)).toEqual(["plugin"]);
  });

  it("refuses a manifest with a byte order mark, and a name that is no text", async () => {
    const folder = stage();
    writeFileSync(Buffer.from(`${folder}/\u00ff`, "latin1"), "");
    expect(seen(await checkPlugin({ folder, allowUnconfined: true }), "tree")).toContain("its name is not UTF-8");
    writeFileSync(join(folder, "plugin.json"), `\u{feff}${readFileSync(join(folder, "plugin.json"), "utf8")}`);
    expect(seen(await checkPlugin({ folder }), "manifest")).toBe("plugin.json begins with a byte order mark");
  });

  it("does not ask for MCP that the manifest does not declare, and says so", async () => {
    const folder = stage();
    const path = join(folder, "bin/plugin");
    writeFileSync(path, readFileSync(path, "utf8").replace('"mcp":false', '"mcp":true'));
    const report = await checkPlugin({ folder, allowUnconfined: true });
    expect(seen(report, "start")).toContain('its MCP is not served and not asked, since plugin.json has "mcp": false');
    expect(outcomes(report)["protocol"]).toBe("passed");
  });

  partTest("bubblewrap")("runs no prepare when it is told so, and says that", async () => {
    const report = await checkPlugin({ folder: stage("prepare-fails"), prepare: false });
    expect(report.ok).toBe(true);
    expect(outcomes(report)["prepare"]).toBe("skipped");
    expect(seen(report, "prepare")).toBe("the prepare of check.json was left out");
  });

  it("of one that may run unconfined says so, and has nothing to escape from", async () => {
    const report = await checkPlugin({
      folder: stage("prepare-fails"),
      prepare: false,
      allowUnconfined: true,
      escapes: true,
    });
    expect(outcomes(report)).toMatchObject({
      ...{ confinement: "skipped", start: "passed", protocol: "passed", transcript: "passed", end: "passed" },
      ...{ "escape:escape_secrets": "skipped", "escape:escape_network": "skipped" },
    });
    expect(seen(report, "start")).toBe("it was created and started, unconfined");
    expect(report.ok).toBe(true);
  });

  it("that cannot go on skips the rest, escapes too, and says since when", async () => {
    const { findings, digest } = await checkPlugin({ folder: stage("not-json"), escapes: true });
    expect(digest).toBeUndefined();
    expect(findings.slice(1).every(({ outcome }) => outcome === "skipped")).toBe(true);
    expect(findings.at(1)?.seen).toBe("not looked at, since manifest failed");
    expect(findings.at(-1)).toMatchObject({
      name: "escape:escape_network",
      seen: "not tried, since manifest failed",
    });
  });

  partTest("bubblewrap")("ends with the reason of its signal at any step, and leaves nothing", async () => {
    const folder = stage("never-answers");
    for (const at of ["copy", "measure", "start"]) {
      const stop = new AbortController();
      const onStep = (step: string): void => {
        if (step.startsWith(at)) stop.abort(new Error(`stopped at ${at}`));
      };
      await expect(checkPlugin({ folder, onStep, signal: stop.signal })).rejects.toThrow(`stopped at ${at}`);
    }
    const during = new AbortController();
    const onStep = (step: string): void => {
      if (step.startsWith("start")) setTimeout(() => during.abort(new Error("stopped later")), 300);
    };
    await expect(checkPlugin({ folder, onStep, signal: during.signal })).rejects.toThrow("stopped later");
    expect(readdirSync(scratch)).toEqual(["plugin"]);
  });

  it.each([
    { name: "no folder", options: { folder: "/nowhere/at/all" }, message: "folder is no folder: /nowhere/at/all" },
    { name: "a file", options: { folder: "/etc/passwd" }, message: "folder is no folder: /etc/passwd" },
    { name: "no text", options: JSON.parse('{"folder":1}'), message: "folder is no text" },
    {
      name: "a misspelled option",
      options: JSON.parse('{"folder":"/","escape":true}'),
      message: "escape is no option",
    },
    {
      name: "a shell's command line",
      options: JSON.parse('{"folder":"/","prepare":"make"}'),
      message: "prepare is neither false nor a list of program and arguments",
    },
    {
      name: "a wait without end",
      options: { folder: "/", prepareTimeoutMs: Number.POSITIVE_INFINITY },
      message: "prepareTimeoutMs is not a whole number from 1 to 86400000: Infinity",
    },
    {
      name: "a timeout that is none",
      options: { folder: "/", timeouts: { callMs: 0 } },
      message: "timeouts.callMs is not a whole number from 1 to 3600000: 0",
    },
    {
      name: "a limit that is none",
      options: { folder: "/", limits: JSON.parse('{"maxMessages":1}') },
      message: "limits.maxMessages is no option",
    },
    {
      name: "other escapes",
      options: JSON.parse('{"folder":"/","escapes":"kit"}'),
      message: 'escapes is neither true, false nor "own"',
    },
  ])("refuses $name", async ({ options, message }) => {
    await expect(checkPlugin(options)).rejects.toMatchObject({ code: "OPTION_INVALID", message });
  });
});
