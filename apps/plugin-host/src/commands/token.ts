import { appendFile } from "node:fs/promises";
import { exitCodes, printJson, printLine, say } from "@berth/command-line";
import { createToken, isAuthError } from "@berth/mcp-server/auth";
import { AppError } from "../errors.js";

/** What the command line says. */
export interface TokenOptions {
  readonly file: string;
  readonly days?: string | undefined;
  readonly json?: boolean | undefined;
}

const dayMs = 86_400_000;
const usualDays = "90";

/** Makes a token for somebody, adds its hash to the file and prints the token, once. */
export async function tokenCommand(name: string, options: TokenOptions): Promise<number> {
  const days = options.days ?? usualDays;
  if (!/^[1-9]\d{0,4}$/.test(days)) throw new AppError("USAGE", `--days ${days} is no number of days from 1`);
  const expiresAt = new Date(Date.now() + Number(days) * dayMs);
  const { token, line } = makeToken(name, expiresAt);
  await appendFile(options.file, `${line}\n`, { mode: 0o600 }).catch((cause: unknown) => {
    throw new AppError("USAGE", `the token file ${options.file} cannot be written`, { cause });
  });
  if (options.json === true) printJson({ name, token, expiresAt: expiresAt.toISOString() });
  else {
    printLine(token);
    say(`for ${name}, until ${expiresAt.toISOString()}; it is shown this once`);
  }
  return exitCodes.good;
}

function makeToken(name: string, expiresAt: Date): { readonly token: string; readonly line: string } {
  try {
    return createToken({ name, expiresAt });
  } catch (error) {
    if (!isAuthError(error)) throw error;
    throw new AppError("USAGE", error.message, { cause: error.cause });
  }
}
