import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { bootId, pidNamespace, startTimeOf } from "../process-identity.js";

/** `new-`, then who makes it (process, its start in ticks, within which pid namespace, since which boot), then what keeps two apart. */
const draftName = /^new-(\d+)-(\d+)-(\d+)-([0-9a-f]{32})-[0-9a-f]{12}$/;

/** Node waits one delay longer each time: three seconds in all. */
const whileWritten = { maxRetries: 24, retryDelay: 10 } as const;

/** Makes a folder in `parent` whose content is not whole yet. It carries its maker's identity, so that later processes know whose it is. */
export async function makeDraftFolder(parent: string): Promise<string> {
  const self = [startTimeOf(process.pid), pidNamespace(), shortBootId()];
  const maker = self.includes(undefined) ? "unknown" : [process.pid, ...self].join("-");
  const path = join(parent, `new-${maker}-${randomBytes(6).toString("hex")}`);
  await mkdir(path, { recursive: true, mode: 0o700 });
  return path;
}

/** Removes what killed processes have left of their drafts. Of whom it is not sure that he is dead, nothing is touched. */
export async function removeDeadDrafts(parent: string): Promise<void> {
  const names = await readdir(parent).catch((): string[] => []); // nobody has made one yet
  for (const name of names.filter(isDead)) {
    // A program of the dead one may still be writing: its end is only a moment behind. What stays is for the next look.
    await rm(join(parent, name), { recursive: true, force: true, ...whileWritten }).catch(() => {});
  }
}

function isDead(name: string): boolean {
  const [, pid, startTime, namespace, boot] = draftName.exec(name) ?? [];
  if (pid === undefined || shortBootId() === undefined) return false;
  if (boot !== shortBootId()) return true;
  return namespace === pidNamespace() && startTimeOf(Number(pid)) !== startTime;
}

function shortBootId(): string | undefined {
  return bootId()?.replaceAll("-", "");
}
