/**
 * What the relay has to know about one server. A catalog entry with its name fits: `{ name, ...entry }`.
 */
export interface ServerPolicy {
  /** The catalog's name of the server; it is the prefix of its tools and prompts under `names: "prefixed"`. */
  readonly name: string;
  /** What a line that is not one JSON-RPC message does to the child. Default `fatal`. */
  readonly onBadLine?: BadLinePolicy | undefined;
  readonly deadlines?: ServerWaits | undefined;
  readonly tools?: ToolPolicy | undefined;
  /** What the server said of itself when it was pinned. Absent: never pinned, the relay then claims every capability for it. */
  readonly pinnedInitialize?: PinnedInitialize | undefined;
}

/** `fatal` ends the child; `quarantine` drops and counts the line. A response to an id never issued is fatal under both. */
export type BadLinePolicy = "fatal" | "quarantine";

/** Bounds of the waits for one server, in milliseconds, 1 to 86_400_000. */
export interface ServerWaits {
  /** From the request to start it to the end of its handshake and the first comparison with its pins. Default 30_000. */
  readonly startMs?: number | undefined;
  /** One list with all its pages. Default 15_000. */
  readonly listMs?: number | undefined;
  /** One call without progress; a progress notification starts it anew. Default 300_000. */
  readonly callMs?: number | undefined;
  /** One call whatever its progress. Default 3_600_000. */
  readonly callMaxMs?: number | undefined;
}

/** Which tools exist for the client, and the definitions that were accepted. Names are the server's own, case kept. */
export interface ToolPolicy {
  /** When present, only these tools exist. */
  readonly allow?: readonly string[] | undefined;
  /** These tools never exist; wins over `allow`. */
  readonly deny?: readonly string[] | undefined;
  /** Accepted tools by name. Absent: none was ever pinned; present, even empty: enforced. */
  readonly pinned?: PinnedDefinitions | undefined;
  /** Accepted prompts by name. */
  readonly pinnedPrompts?: PinnedDefinitions | undefined;
  /** Accepted resource templates by `uriTemplate`. */
  readonly pinnedResourceTemplates?: PinnedDefinitions | undefined;
}

/** Accepted definitions of one kind, by the name that the server gives them. */
export type PinnedDefinitions = Readonly<Record<string, PinnedDefinition>>;

/** One accepted definition. */
export interface PinnedDefinition {
  /** `sha256:HEX` over the UTF-8 bytes of `definition`. */
  readonly digest: string;
  /** Canonical text of the whole definition, as `canonicalDefinition` gives it. */
  readonly definition: string;
}

/** The parts of a server's `initialize` result that were accepted. */
export interface PinnedInitialize {
  readonly protocolVersion?: string | undefined;
  /** Canonical JSON text of the `capabilities` object. */
  readonly capabilities?: string | undefined;
  /** Canonical JSON text of the `serverInfo` object. */
  readonly serverInfo?: string | undefined;
  /** The instructions themselves. */
  readonly instructions?: string | undefined;
}
