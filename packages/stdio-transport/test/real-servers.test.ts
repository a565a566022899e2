// Servers that other people wrote, held by a supervisor in a namespace and in a group, give what they give without one.
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { type ChildOptions, listedEnvironment } from "../src/index.js";
import { childrenOfThisFile } from "./children.js";
import { soon } from "./recorder.js";

const opened = childrenOfThisFile();
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "berth-real-")));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
writeFileSync(join(scratch, "note.txt"), "a note");

const require = createRequire(import.meta.url);
const entryOf = (name: string): string =>
  join(dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)), "dist", "index.js");

const clientInfo = { name: "test", version: "1" };
const start = [
  { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
];
const call = (name: string, args: object): object => ({
  id: 3,
  method: "tools/call",
  params: { name, arguments: args },
});
const servers = [
  { name: "server-everything", args: ["stdio"], last: call("echo", { message: "ü ☃" }) },
  { name: "server-filesystem", args: [scratch], last: call("read_text_file", { path: join(scratch, "note.txt") }) },
  { name: "server-memory", args: [], last: call("read_graph", {}) },
];

const toLine = (message: object): string => JSON.stringify({ jsonrpc: "2.0", ...message });
const isAnswer = (line: string): boolean =>
  /^\{"(?:result|error|jsonrpc)"/.test(line) && "id" in JSON.parse(line) && !("method" in JSON.parse(line));

/** The answers to all requests, by way of `send` and `lines`. */
async function converse(
  messages: readonly object[],
  send: (line: string) => void,
  next: () => Promise<string>,
): Promise<readonly string[]> {
  const answers: string[] = [];
  for (const message of messages) {
    send(toLine(message));
    if (!("id" in message)) continue;
    let line = await next();
    while (!isAnswer(line)) line = await next();
    answers.push(line);
  }
  return answers;
}

async function direct(
  options: Pick<ChildOptions, "file" | "args" | "env">,
  messages: readonly object[],
): Promise<readonly string[]> {
  const child = spawn(options.file, options.args, { env: { ...options.env }, stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  try {
    return await converse(
      messages,
      (line) => child.stdin.write(`${line}\n`),
      async () => String((await lines.next()).value),
    );
  } finally {
    child.kill("SIGKILL");
  }
}

async function held(
  options: Partial<ChildOptions> & { file: string },
  messages: readonly object[],
): Promise<readonly string[]> {
  const { child, recorder } = await opened(options);
  let seen = 0;
  const answers = await converse(
    messages,
    (line) => void child.transport.send(Buffer.from(line)),
    async () => {
      await soon(recorder.framesCame(seen + 1), "an answer", 20_000);
      return recorder.frames[seen++] ?? "";
    },
  );
  await soon(child.close(), "the end");
  expect(recorder.faults).toEqual([]);
  return answers;
}

describe.each(["auto", "group"] as const)("a real server (containment %s)", (containment) => {
  it.each(servers)(
    "$name gives the same answers as without supervisor, and ends when it is closed",
    async ({ name, args, last }) => {
      const file = join(scratch, `${name}-${containment}.json`);
      const env = { ...listedEnvironment(process.env), MEMORY_FILE_PATH: file };
      const options = { file: process.execPath, args: [entryOf(name), ...args], env };
      const messages = [...start, last];
      expect(await held({ ...options, containment }, messages)).toEqual(await direct(options, messages));
    },
    60_000,
  );

  partTest("python3-venv")(
    "a program in a Python environment finds it by its unresolved path",
    async () => {
      const home = join(scratch, `venv-${containment}`);
      const make = spawn("python3", ["-m", "venv", "--without-pip", home], { stdio: "ignore" });
      await new Promise((resolve) => make.once("exit", resolve));
      const script =
        "import sys, json, os; print(json.dumps({'prefix': sys.prefix, 'argv0': sys.orig_argv[0], 'uid': os.getuid()}))";
      const file = join(home, "bin", "python");
      const { recorder } = await opened({ file, args: ["-c", script], containment });
      await soon(recorder.framesCame(1), "the answer");
      expect(JSON.parse(recorder.frames[0] ?? "")).toEqual({ prefix: home, argv0: file, uid: process.getuid?.() });
    },
    60_000,
  );
});
