import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newPlugin } from "../src/check.js";

const page = readFileSync(new URL("../PROTOCOL.md", import.meta.url), "utf8");
let scratch = "";
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "protocol-page-"));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

it("the exchange of PROTOCOL.md is what a plugin of `new` answers, member by member, and then it exits with 0", async () => {
  const lines = page.slice(page.indexOf("## 6. One exchange")).split("\n");
  const of = (mark: string): readonly string[] =>
    lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));
  const folder = join(scratch, "greeter");
  await newPlugin({ language: "shell", name: "greeter", folder });
  mkdirSync(join(scratch, "data"));
  const { status, stdout } = spawnSync(join(folder, "bin/plugin"), {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], PLUGIN_ROOT: folder, PLUGIN_DATA: join(scratch, "data") },
    input: of("> ")
      .map((line) => `${line}\n`)
      .join(""),
  });
  const said = stdout.trimEnd().split("\n");
  expect(said.map((line) => JSON.parse(line))).toEqual(of("< ").map((line) => JSON.parse(line)));
  expect(status).toBe(0);
});

it("each message that PROTOCOL.md shows is one line of JSON, but for the one that is meant not to be", () => {
  const shown = page.split("\n").filter((line) => /^[<>] \{/.test(line));
  const broken = shown.filter((line) => {
    try {
      JSON.parse(line.slice(2));
      return false;
    } catch {
      return true;
    }
  });
  expect(shown.length).toBeGreaterThan(20);
  expect(broken).toEqual(['> {"jsonrpc":']);
});
