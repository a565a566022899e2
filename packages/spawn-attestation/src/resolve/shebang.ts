import { AttestationError } from "../errors.js";
import { printable } from "../measure/byte-path.js";

/** The first line of a script: an interpreter and at most one argument, as the kernel cuts it. */
export interface Shebang {
  readonly interpreter: string;
  readonly argument?: string | undefined;
}

/** Linux reads this much of a script's first line (BINPRM_BUF_SIZE). */
const maxLine = 256;

/**
 * Reads the `#!` line at the head of a file; undefined when there is none.
 * @throws {AttestationError} `SHEBANG_INVALID` when the line is empty or longer than the kernel reads.
 */
export function readShebang(head: Buffer, name: string): Shebang | undefined {
  if (head[0] !== 0x23 || head[1] !== 0x21) return undefined;
  const text = head.subarray(2, maxLine).toString("utf8");
  const line = /^[^\n\0]*/.exec(text)?.[0] ?? "";
  if (line.length === text.length && head.length >= maxLine) throw invalid(name, `is longer than ${maxLine} bytes`);
  if (line.endsWith("\r")) throw invalid(name, "ends in a carriage return, which becomes part of the name");
  const parts = /^[ \t]*([^ \t]+)(?:[ \t]+(.*?))?[ \t]*$/.exec(line);
  const interpreter = parts?.[1];
  if (interpreter === undefined) throw invalid(name, "names no interpreter");
  const argument = parts?.[2];
  return argument === undefined || argument === "" ? { interpreter } : { interpreter, argument };
}

function invalid(name: string, why: string): AttestationError {
  return new AttestationError("SHEBANG_INVALID", `the #! line of ${printable(name)} ${why}`, {
    advice: "write the interpreter in command and the script in args",
  });
}

/**
 * The interpreter behind the line that pip, distlib and uv write when a path is too long for `#!`: the shell runs
 * `'''exec' INTERPRETER "$0" "$@"`, which Python reads as a string. Undefined when the script is nothing of the kind.
 */
export function readTrampoline(head: Buffer, scriptFolder: string): string | undefined {
  const second = head.toString("utf8").split("\n", 2)[1] ?? "";
  const words = /^'''exec' (.+) "\$0" "\$@"$/.exec(second)?.[1];
  if (words === undefined) return undefined;
  const relocatable = /^"\$\(dirname -- "\$\(realpath -- "\$0"\)"\)"\/'?([^'"$`\\/]+)'?$/.exec(words)?.[1];
  if (relocatable !== undefined) return `${scriptFolder}/${relocatable}`;
  const plain = /^"([^"$`\\]+)"$|^'([^']+)'$|^([^\s"'$`\\]+)$/.exec(words);
  const path = plain?.[1] ?? plain?.[2] ?? plain?.[3];
  return path?.startsWith("/") ? path : undefined;
}
