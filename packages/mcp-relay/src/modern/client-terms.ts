import { type Envelope, readMember, readString, spanType } from "@berth/jsonrpc-framing";
import { isLegacyRevision, type LegacyRevision, modernMetaKeys, modernRevisions } from "@berth/mcp-server/protocol";

/** What a client of an older revision said of itself, as each request to a server of 2026-07-28 repeats it. */
export interface ClientTerms {
  readonly revision: LegacyRevision;
  /** Methods that the server may ask the client, and the modes of elicitation. */
  mayAsk(method: string, mode: string | undefined): boolean;
  /** Members of `_meta` for a request. @param logLevel As `logging/setLevel` was told; undefined: no messages. */
  meta(logLevel: string | undefined): string;
}

/** Keys that are the relay's to write: a client of an older revision has no word in them. */
export const metaNames: ReadonlySet<string> = new Set(Object.values(modernMetaKeys));

type Members = Readonly<Record<string, unknown>>;

/** Reads the `initialize` of a client. What is not of its form counts as not said. */
export function readClientTerms(frame: Uint8Array, { params }: Envelope): ClientTerms {
  const member = (name: string) => params && readMember(frame, params, [name]);
  const version = member("protocolVersion");
  const asked = version && readString(frame, version);
  const revision = isLegacyRevision(asked) ? asked : "2025-11-25";
  const said = member("capabilities");
  const declared = said && spanType(frame, said) === "object" ? membersOf(textOf(frame, said)) : {};
  const capabilities = carried(declared, revision);
  const info = member("clientInfo");
  const clientInfo = info && spanType(frame, info) === "object" ? textOf(frame, info) : undefined;
  const fixed = [
    `"${modernMetaKeys.protocolVersion}":"${modernRevisions[0]}"`,
    `"${modernMetaKeys.clientCapabilities}":${JSON.stringify(capabilities)}`,
    ...(clientInfo === undefined ? [] : [`"${modernMetaKeys.clientInfo}":${clientInfo}`]),
  ].join(",");
  return {
    revision,
    mayAsk: (method, mode) => isDeclared(capabilities, method, mode),
    meta: (level) => (level === undefined ? fixed : `${fixed},"${modernMetaKeys.logLevel}":${JSON.stringify(level)}`),
  };
}

/** The capabilities that both eras have. `tasks` is another thing in 2026-07-28; addresses to open came with 2025-11-25. */
function carried(declared: Members, revision: LegacyRevision): Members {
  const { experimental, sampling, roots, extensions } = declared;
  const elicitation = elicitationOf(declared["elicitation"], revision);
  const all = { experimental, sampling, elicitation, roots: isMembers(roots) ? {} : undefined, extensions };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => isMembers(value)));
}

function elicitationOf(declared: unknown, revision: LegacyRevision): Members | undefined {
  if (!isMembers(declared)) return undefined;
  const hasUrl = revision === "2025-11-25" && isMembers(declared["url"]);
  const hasForm = isMembers(declared["form"]) || !isMembers(declared["url"]);
  return { ...(hasForm ? { form: {} } : {}), ...(hasUrl ? { url: {} } : {}) };
}

function isDeclared(capabilities: Members, method: string, mode: string | undefined): boolean {
  if (method === "sampling/createMessage") return isMembers(capabilities["sampling"]);
  if (method === "roots/list") return isMembers(capabilities["roots"]);
  const elicitation = capabilities["elicitation"];
  if (method !== "elicitation/create" || !isMembers(elicitation)) return false;
  return isMembers(elicitation[mode ?? "form"]);
}

function membersOf(text: string): Members {
  const value: unknown = JSON.parse(text);
  return isMembers(value) ? value : {};
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(frame: Uint8Array, span: { readonly start: number; readonly end: number }): string {
  return Buffer.from(frame.buffer, frame.byteOffset + span.start, span.end - span.start).toString("utf8");
}
