import { VenvHostError } from "../../errors.js";

/** One file that a RECORD names. */
export interface RecordedFile {
  /** As it stands there: relative to site-packages, mostly. */
  readonly path: string;
  readonly hash: string;
  /** Undefined where the RECORD has none. */
  readonly size: number | undefined;
}

/** The most files that one distribution may have. */
const maxRecordedFiles = 200_000;

/**
 * Reads a RECORD file (Binary distribution format, § The RECORD file: CSV, `path,hash,size`). Undefined when it is none.
 * @throws {VenvHostError} `VENV_BUILD_FAILED` for one of too many files.
 */
export function readRecord(text: string): readonly RecordedFile[] | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  if (lines.length > maxRecordedFiles) {
    const message = `a distribution records more than ${maxRecordedFiles} files`;
    throw new VenvHostError("VENV_BUILD_FAILED", message, { step: "check" });
  }
  const files: RecordedFile[] = [];
  for (const line of lines) {
    const match = /^("(?:[^"]|"")*"|[^,"]*),([^,]*),(\d{0,15})$/.exec(line);
    if (match === null) return undefined;
    const [, name = "", hash = "", size = ""] = match;
    const path = name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
    files.push({ path, hash, size: size === "" ? undefined : Number(size) });
  }
  return files;
}

/** The line of one file. */
export function recordLine({ path, hash, size }: RecordedFile): string {
  const name = /[",]/.test(path) ? `"${path.replaceAll('"', '""')}"` : path;
  return `${name},${hash},${size ?? ""}\n`;
}
