import { domainToASCII } from "node:url";

/** A host name in the one form that is compared and resolved, or why it is none. */
export type HostReading = { readonly name: string } | { readonly problem: "address" | "invalid" };

const plainLabel = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
// WHATWG URL § ends in a number: resolvers read "0x7f.1", "127.1" and "2130706433" as addresses, whatever stands before.
const numeric = /^(?:[0-9]+|0x[0-9a-f]*)$/i;
// Characters that never belong to a name, but that `domainToASCII` would decode, cut at, or turn into an address.
const foreign = /[^\p{L}\p{N}\p{M}._\-\u3002\uff0e\uff61]/u;

/** Reads a host name from a client: case folded, one trailing dot dropped, IDNA to punycode. Never an address. */
export function readHostName(text: string): HostReading {
  if (text.length > 1_000) return { problem: "invalid" };
  if (text.startsWith("[") || text.includes(":")) return { problem: "address" };
  if (text === "" || foreign.test(text)) return { problem: "invalid" };
  if (endsInNumber(text)) return { problem: "address" };
  const name = dropDot(domainToASCII(text));
  if (name === "" || name.length > 253) return { problem: "invalid" };
  // Once more, since mapping may make digits and dots of other characters.
  if (endsInNumber(name)) return { problem: "address" };
  return name.split(".").every((label) => plainLabel.test(label)) ? { name } : { problem: "invalid" };
}

function dropDot(name: string): string {
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

function endsInNumber(name: string): boolean {
  return numeric.test(dropDot(name).split(".").at(-1) ?? "");
}

/** Reads a decimal port, 1 to 65_535; undefined for anything else. */
export function readPort(text: string): number | undefined {
  if (!/^[0-9]{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port >= 1 && port <= 65_535 ? port : undefined;
}
