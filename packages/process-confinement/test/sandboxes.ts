import type { Readable } from "node:stream";
import { afterEach } from "vitest";
import { openSandbox, type Sandbox, type SandboxExit, type SandboxOptions } from "../src/index.js";

/** What a command said until it ended. */
export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: SandboxExit;
}

export interface TestSandboxes {
  /** As `openSandbox`, with a name, no policy, an environment with a PATH, and `/bin/sh -c SCRIPT` when a script is given. */
  open(options: TestOptions): Promise<Sandbox>;
  /** Opens one, closes its input and reads it to the end. */
  run(options: TestOptions): Promise<Outcome>;
}

export type TestOptions = Partial<SandboxOptions> & { readonly script?: string; readonly python?: string };

let count = 0;

/** Sandboxes for the tests of one file; whatever of them is left after a test is killed. */
export function sandboxesOfThisFile(): TestSandboxes {
  const opened: Sandbox[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((sandbox) => sandbox.kill()));
  });
  const open = async ({ script, python, ...options }: TestOptions): Promise<Sandbox> => {
    const sandbox = await openSandbox({
      name: uniqueName(),
      policy: {},
      file: python === undefined ? "/bin/sh" : "/usr/bin/python3",
      args: python === undefined ? ["-c", script ?? ""] : ["-I", "-c", python],
      env: { PATH: "/usr/bin:/bin" },
      ...options,
    });
    opened.push(sandbox);
    return sandbox;
  };
  return {
    open,
    run: async (options) => {
      const sandbox = await open(options);
      sandbox.stdin.end();
      const [stdout, stderr, exit] = await Promise.all([
        readAll(sandbox.stdout),
        readAll(sandbox.stderr),
        sandbox.exited,
      ]);
      return { stdout, stderr, exit };
    },
  };
}

export function uniqueName(): string {
  return `test-${process.pid}-${++count}`;
}

export async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

/** The first whole line. */
export async function readLine(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.includes("\n")) break;
  }
  return text.split("\n")[0] ?? "";
}
