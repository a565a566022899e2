import { constants } from "node:fs";
import { readdir, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readSmallFile } from "../small-file.js";
import { unlessMissing } from "../system-fault.js";
import { lifeOf, readProcessName, type Viewer } from "./process-name.js";

// A use is a file of its own that names its process. It is written before the lock of its key is looked at, and who
// collects holds that lock before he looks at the uses: one of the two sees the other.

/** One use of one environment. */
export interface Use {
  /** Ends it, and notes when. */
  end(atMs: number): Promise<void>;
}

const maxUseBytes = 4_096;
const draftName = "draft";
// A pipe in the place of the file is an error, not a wait for its reader; a link is not followed.
const inPlace =
  constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** The uses of a store. */
export interface Uses {
  begin(key: string): Promise<Use>;
  /** The processes that use it, with those that cannot be looked for from here; those proven dead are removed. */
  holders(key: string): Promise<readonly number[]>;
  lastUsed(key: string): Promise<number | undefined>;
  noteUse(key: string, atMs: number): Promise<void>;
  forget(key: string): Promise<void>;
  /** Removes what processes left that were killed while they began a use. */
  sweepDrafts(): Promise<void>;
}

/** The uses that are noted in `usesFolder`, and when each environment was used last, in `usedFolder`. */
export function createUses(usesFolder: string, usedFolder: string, viewer: Viewer, random: () => string): Uses {
  // In place: one that is cut short reads as "not known", which is harmless.
  const noteUse = (key: string, atMs: number): Promise<void> =>
    writeFile(join(usedFolder, key), String(Math.round(atMs)), { mode: 0o600, flag: inPlace });
  return {
    noteUse,
    begin: async (key) => {
      const id = random();
      const file = join(usesFolder, `${key}.${id}`);
      const draft = join(usesFolder, `${draftName}.${id}`);
      await writeFile(draft, JSON.stringify(viewer.self), { mode: 0o600, flag: "wx" });
      await rename(draft, file);
      return {
        end: async (atMs) => {
          // Noted first: in between, it is held still.
          await noteUse(key, atMs).catch(() => {}); // a full disk: it then looks unused for longer
          await unlessMissing(unlink(file));
        },
      };
    },
    holders: (key) => livingHolders(usesFolder, key, viewer),
    lastUsed: async (key) => {
      const text = (await unlessMissing(readSmallFile(join(usedFolder, key), 32)))?.toString("latin1") ?? "";
      return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    },
    sweepDrafts: async () => void (await livingHolders(usesFolder, draftName, viewer)),
    forget: async (key) => void (await unlessMissing(unlink(join(usedFolder, key)))),
  };
}

async function livingHolders(folder: string, key: string, viewer: Viewer): Promise<readonly number[]> {
  const names = ((await unlessMissing(readdir(folder))) ?? []).filter((name) => name.startsWith(`${key}.`));
  const pids = new Set<number>();
  for (const name of names) {
    const path = join(folder, name);
    const bytes = await unlessMissing(readSmallFile(path, maxUseBytes));
    if (bytes === undefined) continue;
    const process = readProcessName(bytes.toString("utf8"));
    if (process === undefined && key === draftName) continue; // perhaps it is being written
    // Otherwise unreadable only after a power loss, since it got its name when it was whole: its process is gone.
    if (process !== undefined && lifeOf(process, viewer) !== "dead") pids.add(process.pid);
    else await unlink(path).catch(() => {}); // on a disk that cannot be written it stays, and counts for nothing
  }
  return [...pids].sort((one, other) => one - other);
}
