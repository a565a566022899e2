import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A plugin that is started as a real process, without confinement, and spoken with in raw lines. */
export interface PluginProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly dataFolder: string;
  /** What it wrote to stderr so far. */
  stderr(): string;
  /** Writes a message, or a line as it is. */
  send(line: object | string | Uint8Array): void;
  /** Its next line, parsed; `undefined` when there is none any more. */
  next(): Promise<unknown>;
  /** Ends its input. Resolves with what it wrote that nobody asked for, and how it ended. */
  end(): Promise<{ readonly rest: readonly unknown[]; readonly code: number | null }>;
}

const boundMs = 20_000;

/** Starts it with the environment of PROTOCOL.md § 2. */
export function startPlugin(file: string, args: readonly string[], root: string): PluginProcess {
  const dataFolder = mkdtempSync(join(tmpdir(), "berth-plugin-"));
  const environment = { PLUGIN_ROOT: root, PLUGIN_DATA: dataFolder, PLUGIN_NAME: "smoke", AVE_PROTOCOL: "1" };
  const system = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
  };
  const child = spawn(file, args, {
    cwd: root,
    env: { ...system, ...environment, TZ: "UTC", HOME: dataFolder, TMPDIR: dataFolder },
  });
  // It may end before all was written to it.
  child.stdin.on("error", () => undefined);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  let heard = "";
  child.stderr.on("data", (chunk: Buffer) => {
    heard += chunk.toString();
  });
  const lines = linesOf(child.stdout);
  const next = async (): Promise<unknown> => {
    const timer = setTimeout(() => child.kill("SIGKILL"), boundMs);
    const { value, done } = await lines.next();
    clearTimeout(timer);
    return done === true || value === undefined ? undefined : JSON.parse(value);
  };
  return {
    child,
    dataFolder,
    next,
    stderr: () => heard,
    send: (line) => {
      const written = typeof line === "string" || line instanceof Uint8Array ? line : JSON.stringify(line);
      child.stdin.write(written);
      child.stdin.write("\n");
    },
    end: async () => {
      child.stdin.end();
      const rest: unknown[] = [];
      for (let each = await next(); each !== undefined; each = await next()) rest.push(each);
      return { rest, code: await ended };
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended.catch(() => undefined);
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}

/** At line feeds only: readline would also cut where Unicode ends a line. */
async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<string, undefined> {
  let held = Buffer.alloc(0);
  for await (const chunk of stream) {
    held = Buffer.concat([held, chunk]);
    for (let end = held.indexOf(0x0a); end !== -1; end = held.indexOf(0x0a)) {
      yield held.subarray(0, end).toString();
      held = held.subarray(end + 1);
    }
  }
  if (held.length > 0) yield held.toString();
  return undefined;
}
