import { checkCall } from "./check-call.js";
import { SessionError } from "./errors.js";
import type { OutputEvent } from "./outcome.js";
import type { ExecuteOptions } from "./session.js";
import type { SessionTerms } from "./session-terms.js";

/** A frame holds 64 MiB, and a control character is six bytes in it. */
const maxEscapedBytes = 62_914_560;
const mayEscapeChars = maxEscapedBytes / 6;

/** ExecuteOptions, checked and with defaults filled in. */
export interface ExecuteTerms {
  readonly code: string;
  readonly timeoutMs: number;
  readonly colours: boolean;
  readonly onOutput: ((event: OutputEvent) => void) | undefined;
}

/** @throws {SessionError} `CODE_INVALID`, `CODE_TOO_LARGE`, `OPTION_INVALID`. */
export function readExecuteTerms(options: ExecuteOptions, terms: SessionTerms): ExecuteTerms {
  checkCall(options, terms);
  const { code, timeoutMs = terms.defaultCallMs, colours = false, onOutput } = options;
  // Python's own compiler would only say so with a ValueError that no line number goes with.
  if (code.includes("\0")) throw new SessionError("CODE_INVALID", "the code holds a NUL character");
  if (code.length > mayEscapeChars && Buffer.byteLength(JSON.stringify(code)) > maxEscapedBytes) {
    throw new SessionError("CODE_TOO_LARGE", `escaped for its frame the code is over ${maxEscapedBytes} bytes`);
  }
  return { code, timeoutMs, colours, onOutput };
}
