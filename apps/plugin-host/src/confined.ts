import { randomUUID } from "node:crypto";
import { isConfinementError, openSandbox, type SandboxExit } from "@berth/process-confinement";
import { readLaunch } from "./confine/launch.js";

// A worker's launcher: it opens the sandbox and is a pipe to it. The environment of the worker is its own, as it was listed.

/** Ended like a shell does it. */
const notStarted = 126;

async function run(): Promise<number> {
  const launch = readLaunch(process.argv[2]);
  const [file, ...args] = launch?.argv ?? [];
  if (launch === undefined || file === undefined) throw new Error("this program is started by berth-plugin-host only");
  await using sandbox = await openSandbox({
    name: `plugin-${randomUUID()}`,
    file,
    args,
    env: ownEnvironment(),
    cwd: launch.cwd,
    policy: {
      readOnly: outermost(launch.readable).map((source) => ({ source })),
      readWrite: launch.writable.map((source) => ({ source })),
      network: { mode: "none" },
    },
  });
  process.on("SIGTERM", () => void sandbox.close());
  process.stdin.pipe(sandbox.stdin);
  sandbox.stdin.on("error", () => {}); // the worker may end before it has read all
  sandbox.stdout.pipe(process.stdout);
  sandbox.stderr.pipe(process.stderr);
  return statusOf(await sandbox.exited);
}

/** Without what lies in another one: targets must not hide one another. */
function outermost(paths: readonly string[]): readonly string[] {
  const all = [...new Set(paths)].filter((path) => !isOfSystem(path));
  return all.filter((path) => !all.some((other) => path.startsWith(`${other}/`)));
}

/** There in every sandbox. */
function isOfSystem(path: string): boolean {
  return /^\/(?:usr|bin|sbin|lib|lib32|lib64|libx32)(?:\/|$)/u.test(path);
}

function ownEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return Object.fromEntries(entries);
}

function statusOf({ code }: SandboxExit): number {
  return code ?? 128;
}

try {
  process.exitCode = await run();
} catch (error) {
  const cure = isConfinementError(error) ? error.cure : undefined;
  process.stderr.write(
    `${error instanceof Error ? error.message : String(error)}${cure === undefined ? "" : ` (${cure})`}\n`,
  );
  process.exitCode = notStarted;
}
// What is piped to stdout leaves first; a stdin that nobody ends would keep the process.
process.stdin.unref?.();
