import { createHash } from "node:crypto";
import { RelayError } from "./errors.js";

/** `prefixed`: `server__tool`. `plain`: the server's own name; a name that several servers offer is then refused. */
export type NameStyle = "prefixed" | "plain";

/** Longest name that MCP allows for a tool (2025-11-25, Tools § Tool names). */
export const maxNameLength = 128;
const separator = "__";
const serverName = /^[A-Za-z0-9_.-]{1,64}$/;

/** Where an exposed name leads. `tool` is absent when it cannot be read off: the name was shortened and must be looked up in the server's list. */
export interface NameRoute {
  readonly server: string;
  readonly tool?: string | undefined;
}

/**
 * The name under which a client sees a tool or prompt. With a prefix, a name longer than 128 characters is cut to its first 119, followed
 * by `_` and the first 8 hex digits of the SHA-256 of the whole: the same on every start, and different for tools that share the beginning.
 */
export function exposedName(server: string, name: string, style: NameStyle): string {
  if (style === "plain") return name;
  const full = `${server}${separator}${name}`;
  if (full.length <= maxNameLength) return full;
  const kept = full.slice(0, maxNameLength - 9).replace(/[\uD800-\uDBFF]$/, "_");
  return `${kept}_${createHash("sha256").update(hashable(full)).digest("hex").slice(0, 8)}`;
}

/** The text, or its JSON where UTF-8 would make different lone surrogates equal. */
function hashable(text: string): string {
  return text.isWellFormed() ? text : JSON.stringify(text);
}

/** Reads a prefixed name back: the server whose prefix it begins with. Undefined when there is none. */
export function routeName(exposed: string, servers: readonly string[]): NameRoute | undefined {
  const server = servers
    .filter((candidate) => exposed.startsWith(candidate + separator))
    .reduce<string | undefined>(
      (best, candidate) => (candidate.length > (best?.length ?? -1) ? candidate : best),
      undefined,
    );
  if (server === undefined) return undefined;
  if (exposed.length === maxNameLength && /_[0-9a-f]{8}$/.test(exposed)) return { server };
  return { server, tool: exposed.slice(server.length + separator.length) };
}

/**
 * Checks that each exposed name can lead to one server only.
 * @throws {RelayError} `SERVER_NAME_INVALID` for a name that could not be part of a tool name, or one that occurs twice;
 * `SERVER_NAMES_AMBIGUOUS` when one server's prefix is the beginning of another's (`a` and `a__b`, or `a` and `a_`).
 */
export function checkServerNames(servers: readonly string[], style: NameStyle): void {
  if (new Set(servers).size !== servers.length) {
    throw new RelayError("SERVER_NAME_INVALID", `server names must be unique: ${servers.join(", ")}`);
  }
  if (style === "plain") return;
  for (const name of servers) {
    if (serverName.test(name)) continue;
    const allowed = "1 to 64 letters, digits, dots, hyphens and underscores";
    throw new RelayError(
      "SERVER_NAME_INVALID",
      `server name ${JSON.stringify(name)} must be ${allowed} to be a prefix of tool names`,
    );
  }
  for (const short of servers) {
    const other = servers.find((long) => long !== short && (long + separator).startsWith(short + separator));
    if (other === undefined) continue;
    const way = "rename one of them in the catalog";
    throw new RelayError(
      "SERVER_NAMES_AMBIGUOUS",
      `"${short}${separator}…" could be a tool of "${short}" or of "${other}": ${way}`,
    );
  }
}
