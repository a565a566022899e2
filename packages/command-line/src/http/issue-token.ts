import { appendFile } from "node:fs/promises";
import { CommandError, type ExitCode, exitCodes } from "../errors.js";
import { printJson, printLine, say } from "../output.js";

/** What the operator says of a token. */
export interface TokenFlags {
  /** The file of hashes that a server reads. */
  readonly file: string;
  /** How long it is good: 1 to 99,999. Default 90. */
  readonly days?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Makes a token, and the line by which a server knows it; `createToken` of `@berth/mcp-server/auth` is one. */
export type MakeToken = (terms: { readonly name: string; readonly expiresAt: Date }) => {
  readonly token: string;
  readonly line: string;
};

const dayMs = 86_400_000;
const usualDays = "90";

/**
 * The command `token`: makes one for somebody, adds its line to the file (0600 when it is new) and prints the token, once.
 * @throws {CommandError} `USAGE`: also for what `makeToken` refuses with a code.
 */
export async function issueToken(makeToken: MakeToken, name: string, flags: TokenFlags): Promise<ExitCode> {
  const { file, days = usualDays, json = false } = flags;
  if (!/^[1-9]\d{0,4}$/.test(days)) throw usage(`--days ${days} is no number of days from 1`);
  const expiresAt = new Date(Date.now() + Number(days) * dayMs);
  const { token, line } = tryMake(makeToken, name, expiresAt);
  await appendFile(file, `${line}\n`, { mode: 0o600 }).catch((cause: unknown) => {
    throw usage(`the token file ${file} cannot be written`, cause);
  });
  if (json) printJson({ name, token, expiresAt: expiresAt.toISOString() });
  else {
    printLine(token);
    say(`for ${name}, until ${expiresAt.toISOString()}; it is shown this once`);
  }
  return exitCodes.good;
}

function tryMake(makeToken: MakeToken, name: string, expiresAt: Date): ReturnType<MakeToken> {
  try {
    return makeToken({ name, expiresAt });
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw usage(error.message, error.cause);
  }
}

function usage(message: string, cause?: unknown): CommandError {
  return new CommandError("USAGE", exitCodes.usage, message, { cause });
}
