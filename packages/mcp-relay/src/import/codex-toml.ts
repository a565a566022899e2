import type { DocumentProblem } from "../catalog-document.js";
import type { ClientEntry } from "./report.js";

/** The `mcp_servers` of a Codex `config.toml`, or why the text cannot be read. */
export async function readCodexToml(
  text: string,
): Promise<readonly ClientEntry[] | { readonly problem: DocumentProblem }> {
  // Only an import needs the parser, and only of this form; the package is loaded on every start of a gateway.
  const { parse, TomlError } = await import("smol-toml");
  try {
    const { mcp_servers: servers } = parse(text);
    if (typeof servers !== "object" || servers === null || Array.isArray(servers)) return [];
    return Object.entries(servers).map(([name, value]) => ({ name, value, line: lineOf(text, name) }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [message = "not TOML"] = error.message.split("\n");
    return { problem: { line: error.line, column: error.column, path: "", message } };
  }
}

/** The parser keeps no places, so the table's header is looked for. */
function lineOf(text: string, name: string): number {
  const headers = [name, JSON.stringify(name), `'${name}'`].map((key) => `mcp_servers.${key}`);
  const index = text.split("\n").findIndex((line) => headers.some((header) => line.includes(header)));
  return index === -1 ? 1 : index + 1;
}
