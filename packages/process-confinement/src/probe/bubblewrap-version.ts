import { execFile } from "node:child_process";
import { promisify } from "node:util";

const versionMs = 5_000;

/** What `bwrap --version` tells; undefined when it tells nothing. */
export async function readBubblewrapVersion(
  file: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(file, ["--version"], { env: {}, timeout: versionMs, signal });
    return /^bubblewrap (\S+)/.exec(stdout)?.[1];
  } catch {
    signal?.throwIfAborted();
    return undefined; // it does not start: the trials tell why
  }
}
