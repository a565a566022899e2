import { type Envelope, isFramingError, readMember, readString, spanType, splice } from "@berth/jsonrpc-framing";
import { isLegacyRevision, type LegacyRevision, modernMetaKeys, modernRevisions } from "@berth/mcp-server/protocol";
import { copySpan } from "../translate.js";
import { removals } from "./object-edits.js";

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

/** Bytes of one thing that a client says of itself: all of it is repeated with each request. What is longer counts as not said. */
const maxSaidBytes = 65_536;
/** Answers of this extension are no answers to a client of an older revision. */
const notCarried: ReadonlySet<string> = new Set(["io.modelcontextprotocol/tasks"]);

/** Text of an object that the client sent, by its path below `params`; undefined where there is none, or one that is too long. */
type Said = (...path: readonly string[]) => Uint8Array | undefined;

/** Reads the `initialize` of a client. What is not of its form counts as not said. */
export function readClientTerms(frame: Uint8Array, { params }: Envelope): ClientTerms {
  const said: Said = (...path) => {
    const span = params && readMember(frame, params, path);
    const isSaid = span !== undefined && spanType(frame, span) === "object" && span.end - span.start <= maxSaidBytes;
    return isSaid ? copySpan(frame, span) : undefined;
  };
  const version = params && readMember(frame, params, ["protocolVersion"]);
  const asked = version && readString(frame, version);
  const revision = isLegacyRevision(asked) ? asked : "2025-11-25";
  const modes = modesOf(said, revision);
  const can = {
    "sampling/createMessage": said("capabilities", "sampling"),
    "roots/list": said("capabilities", "roots"),
  };
  const clientInfo = textOf(said("clientInfo"));
  const fixed = [
    `"${modernMetaKeys.protocolVersion}":"${modernRevisions[0]}"`,
    `"${modernMetaKeys.clientCapabilities}":${capabilitiesText(said, modes)}`,
    ...(clientInfo === undefined ? [] : [`"${modernMetaKeys.clientInfo}":${clientInfo}`]),
  ].join(",");
  return {
    revision,
    mayAsk(method, mode = "form") {
      if (method === "elicitation/create") return modes?.includes(mode) ?? false;
      return (method === "sampling/createMessage" || method === "roots/list") && can[method] !== undefined;
    },
    meta: (level) => (level === undefined ? fixed : `${fixed},"${modernMetaKeys.logLevel}":${JSON.stringify(level)}`),
  };
}

/** The capabilities that both eras have, as they were written. `tasks` is another thing in 2026-07-28. */
function capabilitiesText(said: Said, modes: readonly string[] | undefined): string {
  const members = [
    ["experimental", textOf(said("capabilities", "experimental"))],
    ["sampling", textOf(said("capabilities", "sampling"))],
    ["elicitation", modes && `{${modes.map((mode) => `"${mode}":{}`).join(",")}}`],
    ["roots", said("capabilities", "roots") && "{}"],
    ["extensions", textOf(carried(said("capabilities", "extensions")))],
  ];
  const declared = members.flatMap(([name, text]) => (text === undefined ? [] : [`"${name}":${text}`]));
  return `{${declared.join(",")}}`;
}

/** Addresses to open came with 2025-11-25; a capability without members means forms (MCP 2025-11-25, Elicitation § Capabilities). */
function modesOf(said: Said, revision: LegacyRevision): readonly string[] | undefined {
  if (said("capabilities", "elicitation") === undefined) return undefined;
  const opens = revision === "2025-11-25" && said("capabilities", "elicitation", "url") !== undefined;
  const fills = !opens || said("capabilities", "elicitation", "form") !== undefined;
  return [...(fills ? ["form"] : []), ...(opens ? ["url"] : [])];
}

function carried(extensions: Uint8Array | undefined): Uint8Array | undefined {
  if (extensions === undefined) return undefined;
  try {
    return splice(extensions, removals(extensions, { start: 0, end: extensions.length }, notCarried));
  } catch (error) {
    if (isFramingError(error)) return undefined;
    throw error;
  }
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("utf8");
}
