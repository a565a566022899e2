/** Starts the real command as a process, over the stub of the framework in a real environment. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, onTestFinished } from "vitest";
import { hasPart } from "../../../fixtures/parts.js";

export const bin: string = fileURLToPath(new URL("../bin/berth-plugin-host.js", import.meta.url));
const makeWheel = fileURLToPath(new URL("../../../fixtures/cpex-stub/make_wheel.py", import.meta.url));

/** The environment that commands get: no XDG folders of this machine's user. */
const plainEnvironment: Record<string, string> = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" };

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Plugins with their code, a store, and the wheel of the stub. */
export interface World {
  readonly folder: string;
  readonly state: string;
  /** Writes a `plugins.yaml` of entries, each the lines after its `name`. */
  config(name: string, entries: Readonly<Record<string, string>>, settings?: string): string;
  /** Runs a command that reads plugins to its end. */
  run(args: readonly string[], input?: string, endAt?: string): Promise<Finished>;
  /** Options that each such command needs. */
  readonly options: readonly string[];
}

const pluginCode = `
import os, socket

class Guard:
    def __init__(self, config):
        self.config = config
    async def tool_pre_invoke(self, payload, context):
        if payload["name"] == "rm":
            return {"continue_processing": False, "violation": {
                "reason": "no rm", "description": "rm is not allowed", "code": "NO_RM", "details": {"name": "rm"}}}
        return {"continue_processing": True, "modified_payload": {**payload, "args": {"seen": True}}}
    async def tool_post_invoke(self, payload, context):
        return {"continue_processing": True}

class Look:
    def __init__(self, config):
        self.config = config
    async def tool_pre_invoke(self, payload, context):
        args = {}
        for path in payload["args"]["paths"]:
            try:
                with open(path, payload["args"].get("mode", "r")) as file:
                    args[path] = "open"
            except OSError as error:
                args[path] = type(error).__name__
        try:
            socket.create_connection(("127.0.0.1", payload["args"]["port"]), 2).close()
            args["connect"] = "open"
        except OSError as error:
            args["connect"] = type(error).__name__
        return {"continue_processing": True, "modified_payload": {"name": "look", "args": args}}

class Slow:
    def __init__(self, config):
        self.config = config
    async def tool_pre_invoke(self, payload, context):
        import time
        time.sleep(payload["args"]["seconds"])
        return {"continue_processing": True}

class Identity:
    def __init__(self, config):
        self.config = config
    async def identity_resolve(self, payload, context):
        print("seen", payload)
        return {"continue_processing": True, "modified_payload": {"subject": {"id": "ada", "type": "user"}}}
`;

/** Made for all tests of a file. Nothing is built yet. */
export function makeWorld(): World {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "bph-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const code = join(folder, "plugins", "my_pkg");
  mkdirSync(code, { recursive: true });
  writeFileSync(join(code, "__init__.py"), "");
  writeFileSync(join(code, "filters.py"), pluginCode);
  writeFileSync(join(code, "requirements.txt"), "cpex\n");
  const wheels = join(folder, "wheels");
  mkdirSync(wheels);
  // Tests that need it are skipped without Python; the file must still be read, to name them.
  if (hasPart("python3")) execFileSync("python3", [makeWheel, wheels]);
  const state = join(folder, "state");
  const options = ["--cwd", folder, "--state", state, "--wheels", wheels];
  return {
    folder,
    state,
    options,
    config(name, entries, settings = "{}") {
      const path = join(folder, name);
      const lines = Object.entries(entries).map(([plugin, rest]) => `  - { name: ${plugin}, ${rest} }`);
      writeFileSync(path, `plugins:\n${lines.join("\n")}\nplugin_settings: ${settings}\n`);
      return path;
    },
    run: (args, input, endAt) => run([...args, ...options], input, endAt),
  };
}

/** The members of an entry of the kind. */
export function entryOf(className: string, more = "", hooks = "tool_pre_invoke"): string {
  const config = `class_name: my_pkg.${className}, requirements_file: requirements.txt${more}`;
  return `kind: isolated_venv, hooks: [${hooks}], config: { ${config} }`;
}

/** Runs any command to its end. @param endAt When it has said this on stderr, it gets SIGINT. @param more Of its environment. */
export async function run(
  args: readonly string[],
  input = "",
  endAt?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const env = { ...plainEnvironment, ...more };
  const child = spawn(process.execPath, [bin, ...args], { env, stdio: "pipe", timeout: 280_000 });
  const text = { stdout: "", stderr: "" };
  let isTold = false;
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
      // Once: a second one ends a process at once.
      if (endAt === undefined || isTold || !text.stderr.includes(endAt)) return;
      isTold = child.kill("SIGINT");
    });
  }
  child.stdin.on("error", () => {}); // it may end before it has read its input
  child.stdin.end(input);
  const [code] = await once(child, "close");
  return { code, ...text };
}

/** A server that listens. */
export interface Served {
  readonly url: string;
  /** What it said on stderr so far. */
  said(): readonly string[];
  /** Sends SIGTERM; the exit code. */
  end(): Promise<number | null>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

/** Starts `serve --http` on a free port. It does not outlive the test. */
export async function serve(world: Pick<World, "options">, args: readonly string[]): Promise<Served> {
  const child = spawn(process.execPath, [bin, "serve", "--http", "127.0.0.1:0", ...args, ...world.options], {
    env: plainEnvironment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const closed = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      const found = /^\{"event":"listening","url":"(.*)\/mcp"\}$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void closed.then(([code]) => reject(new Error(`ended with ${code}: ${lines.join("\n")}`)));
  });
  return {
    url,
    said: () => lines,
    end: async () => {
      child.kill("SIGTERM");
      const [code] = await closed;
      return code;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** A conversation over standard input and output. */
export interface Talk {
  send(message: object | string): void;
  /** The next answer. */
  next(): Promise<Readonly<Record<string, unknown>>>;
  /** Ends the input; the exit code. */
  end(): Promise<number | null>;
  /** Sends SIGTERM; the exit code. */
  terminate(): Promise<number | null>;
}

/** Starts `serve --stdio`. It does not outlive the test. */
export function talk(world: Pick<World, "options">, args: readonly string[]): Talk {
  const child = spawn(process.execPath, [bin, "serve", "--stdio", ...args, ...world.options], {
    env: plainEnvironment,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const closed = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    send: (message) => void child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
    next: async () => {
      const { done, value } = await lines.next();
      if (done === true) throw new Error("there are no more answers");
      return JSON.parse(value);
    },
    terminate: async () => {
      child.kill("SIGTERM");
      const [code] = await closed;
      return code;
    },
    end: async () => {
      child.stdin.end();
      const [code] = await closed;
      return code;
    },
  };
}
