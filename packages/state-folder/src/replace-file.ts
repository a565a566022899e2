import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * Puts `text` in the place of a file in one step: a reader sees the old or the new, and a crash leaves one of them, beside a
 * draft `.NAME.PID.XXXXXXXX` perhaps. A link stays one, and its target is replaced; the mode is kept, a new file gets 0600.
 * Rejects with the system's error, and the file is then as it was.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  // The global one, which Node loads when it is used: node:crypto would cost each start milliseconds.
  const draft = join(dirname(target), `.${basename(target)}.${process.pid}.${crypto.randomUUID().slice(0, 8)}`);
  const file = await open(draft, "wx", mode);
  try {
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await rename(draft, target);
  } catch (error) {
    await file.close();
    await rm(draft, { force: true });
    throw error;
  }
}
