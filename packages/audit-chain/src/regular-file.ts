import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { systemCode } from "./system-code.js";

/** A file that may be read, or why it may not. */
export type OpenedFile =
  | {
      readonly descriptor: number;
      /** In bytes, when it was opened. */
      readonly size: number;
    }
  | {
      /** One sentence for a person. */
      readonly refused: string;
      /** The system's error; undefined when the file was refused for what it is. */
      readonly cause: unknown;
    };

/** Opens a regular file for reading and nothing else: a link could lead out of the log, a pipe would wait for ever. */
export function openRegularFile(path: string): OpenedFile {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return refusalOf(error);
  }
  const stats = fstatSync(descriptor);
  if (stats.isFile()) return { descriptor, size: stats.size };
  closeSync(descriptor);
  return { refused: "it is not a regular file", cause: undefined };
}

function refusalOf(error: unknown): OpenedFile {
  const code = systemCode(error);
  // What open(2) says of a link under O_NOFOLLOW, and of a socket.
  if (code === "ELOOP") return { refused: "the file cannot be opened: it is a symbolic link", cause: undefined };
  if (code === "ENXIO") return { refused: "it is not a regular file", cause: undefined };
  return { refused: `the file cannot be opened: ${code}`, cause: error };
}
