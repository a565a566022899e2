import type { Logger } from "@berth/command-line";
import { createBearerAdmitter, isAuthError, openTokenFile } from "@berth/mcp-server/auth";
import type { Admitter } from "@berth/mcp-server/http";
import { AppError } from "../errors.js";

/**
 * Lets in who has a token of the file; the name in it is the principal.
 * @throws {AppError} `CONFIG_INVALID` when the file cannot be used.
 */
export async function openAdmission(path: string, logger: Logger): Promise<Admitter<string>> {
  try {
    const verifier = await openTokenFile<string>({
      path,
      principal: ({ name }) => name,
      onReloadError: (error) =>
        logger.error({ err: error }, "the token file cannot be read: the tokens of before count"),
    });
    return createBearerAdmitter({ verifier });
  } catch (error) {
    if (!isAuthError(error)) throw error;
    throw new AppError("CONFIG_INVALID", `--token-file cannot be used: ${error.message}`, {
      cause: error.cause,
      lines: [`make a token with: berth-plugin-host token NAME --file ${path}`],
    });
  }
}
