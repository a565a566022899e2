import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { prepareCopy } from "../../src/check/copy/prepare.js";
import { readCheckFile } from "../../src/check/files/check-file.js";
import { readInterpreter } from "../../src/check/files/interpreters.js";
import { readPluginText } from "../../src/check/files/read-plugin-text.js";
import type { PluginLogLine } from "../../src/index.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "make-ready-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("check.json", () => {
  it("may say nothing", async () => {
    const file = { prepare: undefined, interpreters: [], calls: [] };
    expect(await readCheckFile("{}")).toEqual({ ok: true, file });
  });

  it("has what is prepared, interpreters, and calls of both halves", async () => {
    const text = JSON.stringify({
      prepare: ["make"],
      interpreters: ["/opt/python/bin/python3", "env:PYTHON", "file:bin/python-path"],
      calls: [
        { method: "tools/call", params: { name: "a" } },
        { method: "m" },
        { hook: "tool_pre_invoke", payload: [1] },
      ],
    });
    const calls = [
      { method: "tools/call", params: { name: "a" } },
      { method: "m", params: {} },
      { hook: "tool_pre_invoke", payload: [1] },
    ];
    expect(await readCheckFile(text)).toMatchObject({ ok: true, file: { prepare: ["make"], calls } });
  });

  it.each([
    { name: "what is no JSON", text: "{", problem: /is no JSON/ },
    { name: "a list", text: "[]", problem: /expected object/ },
    { name: "a byte order mark", text: "\u{feff}{}", problem: /is no JSON/ },
    { name: "an unknown key", text: '{"prepared":[]}', problem: /Unrecognized key: "prepared"/ },
    { name: "a key that stands twice", text: '{"calls":[],"calls":[]}', problem: /calls stands more than once/ },
    { name: "a shell's command line", text: '{"prepare":"make all"}', problem: /prepare: .*expected array/ },
    { name: "a command of no words", text: '{"prepare":[]}', problem: /prepare: / },
    { name: "a NUL", text: '{"prepare":["a\\u0000b"]}', problem: /prepare\.0: holds a NUL/ },
    {
      name: "a call of neither half",
      text: '{"calls":[{"tool":"x"}]}',
      problem:
        /^check\.json: calls\.0: is neither \{"method", "params"\}, params an object, nor \{"hook", "payload"\}$/,
    },
    { name: "a call of both", text: '{"calls":[{"method":"x","hook":"y","payload":1}]}', problem: /calls\.0: / },
  ])("is refused with the place: $name", async ({ text, problem }) => {
    const reading = await readCheckFile(text);
    expect(reading).toEqual({ ok: false, problems: [expect.stringMatching(problem)] });
  });
});

describe("a text of a plugin's folder", () => {
  it.each([
    { name: "a link", make: () => symlinkSync("/etc/passwd", join(folder, "x")), why: "x is a link" },
    { name: "a folder", make: () => mkdirSync(join(folder, "x")), why: "x is no file" },
    { name: "too much", make: () => writeFileSync(join(folder, "x"), "12345678901"), why: "x has more than 10 bytes" },
    { name: "no UTF-8", make: () => writeFileSync(join(folder, "x"), Buffer.from([0xff])), why: "x is not UTF-8" },
  ])("is not read when it is $name", async ({ make, why }) => {
    make();
    expect(await readPluginText(folder, "x", 10)).toEqual({ kind: "unreadable", why });
  });

  it("may be absent, or just fit", async () => {
    expect(await readPluginText(folder, "x", 10)).toEqual({ kind: "absent" });
    writeFileSync(join(folder, "x"), "1234567890");
    expect(await readPluginText(folder, "x", 10)).toEqual({ kind: "text", text: "1234567890" });
  });
});

describe("an interpreter of check.json", () => {
  it("is a path, a variable, or the one line of a file", async () => {
    process.env["BERTH_TEST_PYTHON"] = "/opt/a/python3";
    writeFileSync(join(folder, "path"), "/opt/b/python3\n");
    const read = (written: string) => readInterpreter(written, folder);
    expect(await Promise.all(["/c", "env:BERTH_TEST_PYTHON", "file:path"].map(read))).toEqual([
      { path: "/c" },
      { path: "/opt/a/python3" },
      { path: "/opt/b/python3" },
    ]);
    delete process.env["BERTH_TEST_PYTHON"];
  });

  it.each([
    { written: "python3", problem: 'the interpreter is no absolute path: "python3"' },
    { written: "env:BERTH_TEST_NOTHING", problem: "the variable BERTH_TEST_NOTHING is not set" },
    { written: "file:nothing", problem: "there is no nothing" },
    { written: "file:../up", problem: "file:../up does not stay in the plugin's folder" },
    { written: "file:/etc/passwd", problem: "file:/etc/passwd does not stay in the plugin's folder" },
    { written: "file:two", problem: 'two is no absolute path: "/a\\n/b"' },
    { written: "file:link", problem: "link is a link" },
  ])("that is none says why: $written", async ({ written, problem }) => {
    writeFileSync(join(folder, "two"), "/a\n/b\n");
    symlinkSync("two", join(folder, "link"));
    expect(await readInterpreter(written, folder)).toEqual({ problem });
  });
});

describe("what fills a copy", () => {
  const run = async (command: readonly string[], timeoutMs = 60_000, signal?: AbortSignal) => {
    const lines: PluginLogLine[] = [];
    const onLog = (line: PluginLogLine): void => void lines.push(line);
    const failure = await prepareCopy({ command, folder, source: "/the/source", timeoutMs, onLog, signal });
    return { failure, texts: lines.map(({ text }) => text) };
  };

  it("runs in the copy, without a shell, knows the source, and is heard line by line", async () => {
    const { failure, texts } = await run(["sh", "-c", 'pwd -P; echo "$PLUGIN_SOURCE $1"; echo err >&2', "x", "$HOME;"]);
    expect(failure).toBeUndefined();
    expect([...texts].sort()).toEqual([folder, "/the/source $HOME;", "err"].sort());
  });

  it("fails with its status and its last words, in which no terminal is moved", async () => {
    const script = "for i in 1 2 3 4 5 6; do echo line $i; done; printf '\\033[2Jgone'; exit 4";
    const { failure } = await run(["sh", "-c", script]);
    expect(failure).toEqual({
      why: "sh ended with 4",
      tail: ["line 3", "line 4", "line 5", "line 6", "\\u001b[2Jgone"],
    });
  });

  it("fails when it is not there", async () => {
    const { failure } = await run(["./no-such-program"]);
    expect(failure?.why).toMatch(/^\.\/no-such-program could not be run: .*ENOENT/);
  });

  it("is ended with all that it started when it takes too long", async () => {
    const { failure } = await run(["sh", "-c", "sleep 1000 & echo $!; wait"], 500);
    expect(failure?.why).toBe("sh did not end within 500 ms");
  });

  it("is ended by the signal, whose reason is thrown", async () => {
    const stop = new AbortController();
    const running = prepareCopy({
      ...{ command: ["sh", "-c", "echo up; sleep 1000"], folder, source: folder, timeoutMs: 60_000 },
      onLog: () => stop.abort(new Error("enough")),
      signal: stop.signal,
    });
    await expect(running).rejects.toThrow("enough");
  });
});
