import { realpath, stat } from "node:fs/promises";
import { measureFolder } from "@berth/process-confinement";
import { LeaseError } from "../errors.js";
import type { ProfileMount, ProfileTerms } from "../profile.js";

/** The writable mounts of a sandbox that is about to start. */
export interface MeasuredMounts {
  /** With what each may hold while the sandbox runs. */
  readonly writable: readonly ProfileMount[];
  /** Why nothing may grow in this sandbox; undefined when every mount is within its bound. */
  readonly restriction: string | undefined;
}

/** What others of the same owner, which still run, may write before they are ended. Nothing of the restricted one can. */
const slackBytes = 2 ** 20;
/** No bound of a mount is larger (`ProfileMount.maxBytes`). */
const mostBytes = 2 ** 40;

/**
 * Looks what the writable mounts with a bound hold, before anything of the sandbox runs. One that is over it would end the
 * sandbox at the first look of its watch, and nobody could ever make room.
 * @throws {LeaseError} `MOUNT_FULL` where removing from inside is no way out: too many entries, too deep, or no folder.
 */
export async function measureMounts({ mounts, policy }: ProfileTerms, signal?: AbortSignal): Promise<MeasuredMounts> {
  const measured: MeasuredMount[] = [];
  for (const mount of mounts) if (mount.writable === true) measured.push(await measureMount(mount, signal));
  const writable = measured.map(({ mount }) => mount);
  const full = measured.flatMap(({ excess }) => excess ?? []);
  if (full.length === 0) return { writable, restriction: undefined };
  const hosts = policy.network === "allowlist" ? " No host can be reached." : "";
  const what = "files can be read and removed in it, and nothing can be written or made anywhere (EFBIG, EDQUOT).";
  const since = `When this sandbox started, ${full.join(", and ")}: ${what}`;
  return { writable, restriction: `${since}${hosts} Remove some, then start another.` };
}

interface MeasuredMount {
  readonly mount: ProfileMount;
  readonly excess: string | undefined;
}

async function measureMount(mount: ProfileMount, signal: AbortSignal | undefined): Promise<MeasuredMount> {
  const { target, maxBytes } = mount;
  if (maxBytes === undefined) return { mount, excess: undefined };
  const source = await resolved(mount);
  if (source === undefined) return { mount, excess: undefined };
  const { bytes, verdict, reason } = await measureFolder(source, { maxBytes: mostBytes - slackBytes }, { signal });
  if (verdict === "unseen" && (await isFolder(source))) {
    // Nor could its watch, and it need not: nothing grows here, and modes can be set.
    const excess = `${target} could not be measured (${reason}; set its mode)`;
    return { mount: { ...mount, maxBytes: undefined }, excess };
  }
  if (verdict !== "within") throw cannotBeCleared(target, reason);
  if (bytes <= maxBytes) return { mount, excess: undefined };
  const excess = `${target} held ${bytes} bytes, over its limit of ${maxBytes}`;
  return { mount: { ...mount, maxBytes: bytes + slackBytes }, excess };
}

/** A source that is not there is told by the start itself. */
async function resolved({ source }: ProfileMount): Promise<string | undefined> {
  return realpath(source).catch(() => undefined);
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (seen) => seen.isDirectory(),
    () => false,
  );
}

// Never the path on the host: whoever asked may be told by a server.
function cannotBeCleared(target: string, reason = "it cannot be read"): LeaseError {
  return new LeaseError("MOUNT_FULL", `${target} cannot be cleared from inside: ${reason}`, {
    cure: "the operator has to remove files from the folder that is mounted there",
  });
}
