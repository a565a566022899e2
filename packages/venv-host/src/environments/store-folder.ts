import { lstat, mkdir, realpath, statfs } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { VenvHostError } from "../errors.js";
import { readSmallFile, replaceFile } from "./small-file.js";
import { inStore, unlessMissing } from "./system-fault.js";

/** Where the things of a store lie. All paths are real ones: what is written into scripts must still be true tomorrow. */
export interface StoreFolder {
  readonly root: string;
  readonly environments: string;
  readonly building: string;
  readonly locks: string;
  readonly uses: string;
  readonly used: string;
  /** Whether its file system is one that only one machine at a time can have. */
  readonly isLocal: boolean;
}

const formatText = "berth-venv-store 1\n";

// Installers write the path into scripts for /bin/sh, where these mean something; `:` cannot stand in a PATH.
const unsafe = /[\p{Cc}"'`$\\:]/u;

/** Makes or finds the folder. Rejects with `STORE_UNUSABLE`. */
export function openStoreFolder(path: string, random: () => string): Promise<StoreFolder> {
  return inStore(path, "open", async () => {
    if (!isAbsolute(path) || unsafe.test(path)) {
      const message =
        "the store's path must be absolute, without quotes, backslashes, `$`, colons and control characters";
      throw new VenvHostError("OPTION_INVALID", message);
    }
    await makeFolder(path);
    const root = await realpath(path);
    if (unsafe.test(root))
      throw new VenvHostError("OPTION_INVALID", `the store's real path ${root} holds a quote, \`$\` or colon`);
    await checkFormat(root, random);
    const folder = folderOf(root, isLocalFileSystem((await statfs(root)).type));
    for (const part of [folder.environments, folder.building, folder.locks, folder.uses, folder.used]) {
      await makeFolder(part);
    }
    return folder;
  });
}

function folderOf(root: string, isLocal: boolean): StoreFolder {
  const at = (name: string): string => join(root, name);
  return {
    root,
    environments: at("environments"),
    building: at("tmp"),
    locks: at("locks"),
    uses: at("uses"),
    used: at("used"),
    isLocal,
  };
}

/** Only when it is absent: on a file system that cannot be written, mkdir of what is there may fail with EROFS. */
async function makeFolder(path: string): Promise<void> {
  const stats = await unlessMissing(lstat(path));
  if (stats !== undefined) return;
  // Node's own way says ENOENT where the file system cannot be written: the folder itself says why.
  await mkdir(path, { recursive: true, mode: 0o700 }).catch(() => mkdir(path, { mode: 0o700 }));
}

async function checkFormat(root: string, random: () => string): Promise<void> {
  const file = join(root, "format");
  if ((await unlessMissing(lstat(file))) === undefined) {
    return replaceFile(file, join(root, `format.${random()}`), formatText);
  }
  const found = await unlessMissing(readSmallFile(file, formatText.length));
  if (found?.toString("utf8") === formatText) return;
  const message = `${root} is not a store of this version`;
  throw new VenvHostError("STORE_UNUSABLE", message, { step: "open", cure: "give another folder" });
}

// f_type of file systems that one kernel at a time can have mounted (statfs(2)): ext, xfs, btrfs, tmpfs, overlay, zfs,
// f2fs, bcachefs. Network file systems, FUSE and 9p are not among them.
const localFileSystems: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);

/** Whether only one machine at a time can have a file system of this type mounted. */
export function isLocalFileSystem(type: number): boolean {
  return localFileSystems.has(type);
}
