import { issueToken, type TokenFlags } from "@berth/command-line/http";
import { createToken } from "@berth/mcp-server/auth";

/** Makes a token for somebody, adds its hash to the file and prints the token, once. */
export function tokenCommand(name: string, flags: TokenFlags): Promise<number> {
  return issueToken(createToken, name, flags);
}
