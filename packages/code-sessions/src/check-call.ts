import { SessionError } from "./errors.js";
import type { ExecuteOptions } from "./session.js";
import type { SessionTerms } from "./session-terms.js";

/**
 * Checks what a caller gives before anything is started for it.
 * @throws {SessionError} `CODE_INVALID`, `CODE_TOO_LARGE`, `OPTION_INVALID`.
 */
export function checkCall({ code, timeoutMs, idempotencyKey }: ExecuteOptions, terms: SessionTerms): void {
  if (typeof code !== "string") throw new SessionError("CODE_INVALID", `code is ${typeof code}; it has to be a text`);
  const bytes = Buffer.byteLength(code);
  if (bytes > terms.maxCodeBytes) {
    throw new SessionError("CODE_TOO_LARGE", `the code has ${bytes} bytes; the limit is ${terms.maxCodeBytes}`);
  }
  const isTimeout = timeoutMs === undefined || (Number.isInteger(timeoutMs) && timeoutMs >= 1);
  if (!isTimeout || (timeoutMs ?? 0) > terms.maxCallMs) {
    throw new SessionError("OPTION_INVALID", `timeoutMs is ${timeoutMs}; it has to be 1 to ${terms.maxCallMs}`);
  }
  if (idempotencyKey === undefined || (idempotencyKey.length >= 1 && idempotencyKey.length <= 200)) return;
  throw new SessionError(
    "OPTION_INVALID",
    `an idempotency key of ${idempotencyKey.length} characters; it has 1 to 200`,
  );
}
