import { fileURLToPath } from "node:url";
import { type ChildHandle, listedEnvironment, openChild } from "@berth/stdio-transport";
import type { UpstreamConnection } from "../../src/index.js";

/** Options of one start. */
export interface FixtureStart {
  readonly args?: readonly string[];
  readonly maxFrameBytes?: number;
  readonly signal?: AbortSignal;
  onStart?(child: ChildHandle): void;
}

/** Starts a server of `fixtures/servers` as a child process; `.py` files run with python3. */
export async function openFixture(file: string, options: FixtureStart = {}): Promise<UpstreamConnection> {
  const path = fileURLToPath(new URL(`../../../../fixtures/servers/${file}`, import.meta.url));
  const child = await openChild({
    file: file.endsWith(".py") ? "python3" : process.execPath,
    args: [path, ...(options.args ?? [])],
    env: listedEnvironment(process.env),
    ...(options.maxFrameBytes === undefined ? {} : { maxFrameBytes: options.maxFrameBytes }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    graceMs: { inputMs: 1_000, terminateMs: 1_000 },
  });
  options.onStart?.(child);
  return {
    transport: child.transport,
    evidence: { evidence: "spawn-measured", digest: "sha256:00", guard: "recheck", coverage: "file" },
    exited: child.exited,
    stderrBytes: () => child.stderr.byteCount,
    close: () => child.close(),
  };
}
