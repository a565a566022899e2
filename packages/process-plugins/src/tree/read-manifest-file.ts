import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { join } from "node:path";
import type { ManifestReading } from "../manifest/manifest.js";
import { manifestLimits } from "../manifest/manifest-schema.js";
import { readManifestBytes } from "../manifest/read-manifest.js";
import { faultOf } from "./walk-folder.js";

/** Reads `plugin.json` of a folder: a regular file itself, no link, and no more of it than a manifest may have. */
export async function readManifestFile(root: string): Promise<ManifestReading> {
  const path = join(root, "plugin.json");
  try {
    // Looked at first: a named pipe would keep who opens it waiting, and a device may act when it is opened.
    if (!(await lstat(path)).isFile()) return refused("plugin.json is no regular file");
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!(await file.stat()).isFile()) return refused("plugin.json is no regular file");
      const buffer = Buffer.alloc(manifestLimits.bytes + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
        length += bytesRead;
        if (bytesRead === 0) return await readManifestBytes(buffer.subarray(0, length));
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = faultOf(error);
    return refused(code === "ENOENT" ? "plugin.json is missing" : `plugin.json cannot be read (${code})`);
  }
}

function refused(problem: string): ManifestReading {
  return { ok: false, problems: [problem] };
}
