import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** The golden transcript of a plugin. */
export const transcriptFile = "expected.jsonl";

/** Replaces `expected.jsonl` whole: a reader sees the old or the new one, also after a crash. */
export async function recordTranscript(folder: string, text: string): Promise<string> {
  const path = join(folder, transcriptFile);
  const aside = join(folder, `.${transcriptFile}.${randomBytes(6).toString("hex")}`);
  const file = await open(aside, "wx", 0o644);
  try {
    await file.writeFile(text);
    await file.chmod(0o644); // a plugin's folder may not be writable by the group, whatever the umask
    await file.sync();
    await file.close();
    await rename(aside, path);
  } catch (error) {
    await file.close().catch(() => {}); // closed already
    await rm(aside, { force: true });
    throw error;
  }
  return path;
}
