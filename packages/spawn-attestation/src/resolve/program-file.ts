import { closeSync, constants, openSync, readSync } from "node:fs";
import { AttestationError } from "../errors.js";
import { parentOf, printable, toBuffer, toText } from "../measure/byte-path.js";
import { atPath } from "../measure/identity.js";
import type { FoundProgram } from "./lookup.js";
import { readShebang, readTrampoline, type Shebang } from "./shebang.js";

/** What the kernel would do with a file. */
export type ProgramForm =
  | { readonly kind: "native" }
  | {
      readonly kind: "script";
      readonly shebang: Shebang;
      readonly trampoline: string | undefined;
      readonly head: string;
    };

const headBytes = 4096;

// ELF, and Mach-O in both widths, both byte orders and as a fat file.
const nativeMagics: ReadonlySet<string> = new Set([
  "7f454c46",
  "feedface",
  "feedfacf",
  "cefaedfe",
  "cffaedfe",
  "cafebabe",
]);

/**
 * Reads the head of a program.
 * @throws {AttestationError} `UNREADABLE`, `SHEBANG_INVALID`, `EXECUTABLE_FORMAT_UNKNOWN` for what the kernel hands to
 * something else: the shell (no `#!` line) or a registered handler (binfmt_misc), which cannot be told from here.
 */
export function readProgram(program: FoundProgram): ProgramForm {
  const bytes = readHead(program);
  const shebang = readShebang(bytes, program.path);
  if (shebang !== undefined) {
    const folder = toText(parentOf(program.trace.realPath));
    return { kind: "script", shebang, trampoline: readTrampoline(bytes, folder), head: bytes.toString("utf8") };
  }
  if (nativeMagics.has(bytes.subarray(0, 4).toString("hex"))) return { kind: "native" };
  throw new AttestationError(
    "EXECUTABLE_FORMAT_UNKNOWN",
    `${printable(program.path)} is no native program and has no #! line, so what would run it cannot be told`,
    { advice: "add a #! line, or write the interpreter in command and the file in args" },
  );
}

function readHead(program: FoundProgram): Buffer {
  const path = program.trace.realPath;
  const codes = {
    missing: "COMMAND_NOT_FOUND",
    advice: "let this user read the program, since it has to be measured",
  } as const;
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const descriptor = atPath(path, codes, () => openSync(toBuffer(path), flags));
  try {
    const head = Buffer.alloc(headBytes);
    return head.subarray(
      0,
      atPath(path, codes, () => readSync(descriptor, head, 0, headBytes, 0)),
    );
  } finally {
    closeSync(descriptor);
  }
}

const managerBinaries: ReadonlySet<string> = new Set([
  "volta-shim",
  "volta",
  "mise",
  "rtx",
  "asdf",
  "proto-shim",
  "vfox",
]);
const managerLine =
  /(?:^|[\s/"'])(?:pyenv|rbenv|nodenv|plenv|goenv|jenv|phpenv|asdf|mise|rtx|volta)"?\s+(?:exec|x|run)\s/m;

/** Whether a program is a version manager's stand-in, which finds the real one when it starts. */
export function isManagerShim(realName: string, form: ProgramForm): boolean {
  return managerBinaries.has(realName) || (form.kind === "script" && managerLine.test(form.head));
}

/** The script behind the shell wrapper that pnpm and npm write in node_modules/.bin on some systems. */
export function wrappedScript(form: ProgramForm): string | undefined {
  if (form.kind !== "script" || !form.head.includes("basedir=$(dirname")) return undefined;
  return /exec (?:"\$basedir\/node"|node) +"\$basedir\/([^"$`]+)"/.exec(form.head)?.[1];
}
