import { isLegacyRevision, type LegacyRevision } from "@berth/mcp-server/protocol";
import type { RelayOptions } from "../relay-options.js";
import type { ServerTerms } from "../relay-terms.js";

/** Claimed for a server of which nothing was pinned: what it may have, so that the client asks. */
const unknownCapabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

/**
 * The `initialize` result that can be given without starting anything. One server: as it was pinned. Several: what any of them has, our own
 * `serverInfo`, and their instructions under their names.
 */
export function pinnedResult(
  servers: readonly ServerTerms[],
  revision: LegacyRevision,
  own: RelayOptions["serverInfo"],
): string {
  const [only, ...others] = servers;
  const pinned = others.length === 0 ? only?.pinnedInitialize : undefined;
  const members = [
    `"protocolVersion":${JSON.stringify(olderOf(revision, pinned?.protocolVersion))}`,
    `"capabilities":${pinned?.capabilities ?? JSON.stringify(allCapabilities(servers))}`,
    `"serverInfo":${pinned?.serverInfo ?? JSON.stringify(own)}`,
  ];
  const instructions = others.length === 0 ? only?.pinnedInitialize?.instructions : allInstructions(servers);
  if (instructions !== undefined) members.push(`"instructions":${JSON.stringify(instructions)}`);
  return `{${members.join(",")}}`;
}

/** A server that was older when it was pinned would have answered with its own revision. */
function olderOf(revision: LegacyRevision, pinned: string | undefined): LegacyRevision {
  return isLegacyRevision(pinned) && pinned < revision ? pinned : revision;
}

function allCapabilities(servers: readonly ServerTerms[]): unknown {
  return servers
    .map(({ pinnedInitialize }): unknown =>
      pinnedInitialize?.capabilities === undefined ? unknownCapabilities : JSON.parse(pinnedInitialize.capabilities),
    )
    .reduce(union);
}

/** Members of both, deeply; where one says no and the other yes, yes. */
function union(a: unknown, b: unknown): unknown {
  if (!isRecord(a) || !isRecord(b)) return a === false || a === undefined || a === null ? (b ?? a) : a;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, union(own(a, name), own(b, name))]));
}

function own(record: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function allInstructions(servers: readonly ServerTerms[]): string | undefined {
  const sections = servers.flatMap(({ name, pinnedInitialize }) =>
    pinnedInitialize?.instructions === undefined ? [] : [`# ${name}\n\n${pinnedInitialize.instructions}`],
  );
  return sections.length === 0 ? undefined : sections.join("\n\n");
}
