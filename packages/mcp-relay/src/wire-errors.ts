import type { JsonValue, WireError } from "@berth/jsonrpc-framing";
import { isStdioTransportError } from "@berth/stdio-transport";
import type { UpstreamRefusal } from "./connection.js";

/** Error numbers of the relay, outside the range that JSON-RPC and MCP reserve, so that a local fault never looks like a server's. */
export const relayErrors = { spawnRefused: -31100, toolBlocked: -31101, upstreamGone: -31102, denied: -31103 } as const;

/** `data.reason` of -31101: the definition is not the accepted one, or the catalog does not let it through. */
export type BlockedReason =
  | "TOOL_CHANGED"
  | "TOOL_NOT_PINNED"
  | "TOOL_WITHDRAWN"
  | "TOOL_DENIED"
  | "PROMPT_CHANGED"
  | "PROMPT_NOT_PINNED"
  | "PROMPT_WITHDRAWN"
  | "RESOURCE_TEMPLATE_CHANGED"
  | "RESOURCE_TEMPLATE_NOT_PINNED"
  | "RESOURCE_TEMPLATE_WITHDRAWN"
  | "NAME_COLLISION";

/** `data.reason` of an error for what the client asked, where no server was involved. */
export type AskedReason =
  | "UNKNOWN_TOOL"
  | "UNKNOWN_PROMPT"
  | "UNKNOWN_RESOURCE"
  | "UNKNOWN_TASK"
  | "UNKNOWN_CURSOR"
  | "UNKNOWN_METHOD"
  | "PARAMS_INVALID"
  | "ID_IN_USE"
  | "ID_TOO_LONG"
  | "ALREADY_INITIALIZED";

/** `data.reason` of -32603: the relay itself could not. */
export type OwnReason = "TOO_MANY_CALLS" | "NOT_RECORDED" | "INTERNAL";

/** `data.reason` of -31103 where it is the relay's own; an interceptor that refuses gives its own. */
export type DeniedReason = "INTERCEPTION_FAILED" | "INTERCEPTION_TIMEOUT" | "INTERCEPTION_LEFT_SERVER";

/** `data.reason` of -31102: the server did not answer. */
export type GoneReason =
  | "CHILD_DESYNCHRONIZED"
  | "CHILD_EXITED"
  | "START_FAILED"
  | "START_TIMEOUT"
  | "INITIALIZE_FAILED"
  | "REVISION_UNSUPPORTED"
  | "LIST_FAILED"
  | "CALL_TIMEOUT"
  | "FRAME_TOO_LARGE"
  | "QUEUE_FULL"
  | "ANSWER_UNUSABLE"
  | "SESSION_CLOSED";

/** How a refusal or loss looks to a host that words the way out itself. */
export interface FaultSubject {
  readonly reason: string;
  /** Absent when no server was concerned. */
  readonly server?: string | undefined;
  /** The server's own name of the tool, prompt or template concerned. */
  readonly name?: string | undefined;
}

/** What a fault is made of. */
export interface FaultParts extends FaultSubject {
  readonly code: number;
  /** What happened. */
  readonly problem: string;
  /** What to do about it: the catalog key or command that would change it. */
  readonly way?: string | undefined;
  /** Members of `error.data` beside `reason` and `server`. */
  readonly data?: Readonly<Record<string, JsonValue | undefined>> | undefined;
}

/** Why a call gets an error that no server said. Used inside; a client sees it as `wireErrorOf` words it. */
export class RelayFault extends Error {
  override readonly name = "RelayFault";
  readonly parts: FaultParts;
  constructor(parts: FaultParts, options?: ErrorOptions) {
    super(parts.problem, options);
    this.parts = parts;
  }
}

/** The `error` member that a client gets. `advise` may replace the way out. */
export function wireErrorOf(fault: RelayFault, advise?: (subject: FaultSubject) => string | undefined): WireError {
  const { code, reason, server, name, problem, data } = fault.parts;
  const way = advise?.({ reason, server, name }) ?? fault.parts.way;
  const known = Object.entries({ server, ...data }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value]],
  );
  return {
    code,
    message: way === undefined || problem.includes(way) ? problem : `${problem}. ${way}`,
    data: { reason, ...Object.fromEntries(known) },
  };
}

/** Whether an error of `openUpstream` or `recheck` is a refusal. Structural, since it comes from another package; a transport's own error is not one. */
export function isUpstreamRefusal(value: unknown): value is UpstreamRefusal {
  if (isStdioTransportError(value)) return false;
  return value instanceof Error && "reason" in value && typeof value.reason === "string";
}

/** -31100 from what the host's launcher said. */
export function spawnRefused(server: string, refusal: UpstreamRefusal): RelayFault {
  const { reason, message, advice, target, expected, measured } = refusal;
  const data = { target, expected, measured };
  return new RelayFault({ code: relayErrors.spawnRefused, reason, server, problem: message, way: advice, data });
}

/** -31101. */
export function blocked(
  server: string,
  reason: BlockedReason,
  name: string,
  digests?: { readonly expected?: string | undefined; readonly measured?: string | undefined },
): RelayFault {
  const [problem, way] = blockedTexts[reason](name, server);
  const data = { name, ...digests };
  return new RelayFault({ code: relayErrors.toolBlocked, reason, server, name, problem, way, data });
}

/** -31102. `detail` says more than the reason does, such as an exit code. */
export function upstreamGone(
  server: string,
  reason: GoneReason,
  detail?: string,
  data?: FaultParts["data"],
): RelayFault {
  const [what, way] = goneTexts[reason];
  const problem = `server ${quoted(server)} ${what}${detail === undefined ? "" : ` (${detail})`}`;
  return new RelayFault({ code: relayErrors.upstreamGone, reason, server, problem, way, data });
}

/** A JSON-RPC or MCP error for what the client asked. */
export function notServed(
  code: number,
  reason: AskedReason | OwnReason,
  problem: string,
  data?: FaultParts["data"],
): RelayFault {
  return new RelayFault({ code, reason, problem, data });
}

type Text = readonly [problem: string, way?: string];

const pin = (server: string): string => `Look at what changed and accept it: berth-gateway pin --server ${server}`;
const quoted = (text: string): string => JSON.stringify(text);

const changed =
  (what: string) =>
  (name: string, server: string): Text => [
    `${what} ${quoted(name)} of server ${quoted(server)} is not as it was pinned`,
    pin(server),
  ];
const notPinned =
  (what: string) =>
  (name: string, server: string): Text => [
    `${what} ${quoted(name)} of server ${quoted(server)} was never pinned`,
    pin(server),
  ];
const withdrawn =
  (what: string) =>
  (name: string, server: string): Text => [
    `server ${quoted(server)} no longer offers its pinned ${what} ${quoted(name)}`,
    pin(server),
  ];

const blockedTexts: Record<BlockedReason, (name: string, server: string) => Text> = {
  TOOL_CHANGED: changed("tool"),
  TOOL_NOT_PINNED: notPinned("tool"),
  TOOL_WITHDRAWN: withdrawn("tool"),
  PROMPT_CHANGED: changed("prompt"),
  PROMPT_NOT_PINNED: notPinned("prompt"),
  PROMPT_WITHDRAWN: withdrawn("prompt"),
  RESOURCE_TEMPLATE_CHANGED: changed("resource template"),
  RESOURCE_TEMPLATE_NOT_PINNED: notPinned("resource template"),
  RESOURCE_TEMPLATE_WITHDRAWN: withdrawn("resource template"),
  TOOL_DENIED: (name, server) => [
    `tool ${quoted(name)} of server ${quoted(server)} is not let through`,
    `"tools.allow" and "tools.deny" of ${quoted(server)} in the catalog decide`,
  ],
  NAME_COLLISION: (name, server) => [
    `${quoted(name)} is offered by server ${quoted(server)} and by another one`,
    `Set "names: prefixed" in gateway.yaml, or hide one with "tools.deny" in the catalog`,
  ],
};

const again = "The next call starts it again";
const allowsMore = (key: string): string => `"${key}" in its catalog entry allows more`;

const goneTexts: Record<GoneReason, Text> = {
  CHILD_DESYNCHRONIZED: [
    "wrote something that is no answer to this client, and was ended",
    `${again}; if it prints on stdout, "onBadLine": "quarantine" in its catalog entry drops such lines`,
  ],
  CHILD_EXITED: ["ended before it answered", again],
  START_FAILED: ["could not be started"],
  START_TIMEOUT: ["was not ready in time", allowsMore("deadlines.startMs")],
  INITIALIZE_FAILED: ["refused to initialize"],
  REVISION_UNSUPPORTED: ["speaks no protocol revision that is served here"],
  LIST_FAILED: ["did not give the list that its pins are compared with", allowsMore("deadlines.listMs")],
  CALL_TIMEOUT: ["did not answer in time", allowsMore("deadlines.callMs")],
  FRAME_TOO_LARGE: ["sent or was to get a message over the limit", allowsMore("limits.maxFrameBytes")],
  QUEUE_FULL: ["does not read what it is sent", allowsMore("limits.maxQueuedBytes")],
  ANSWER_UNUSABLE: ["answered what cannot be passed on to this client"],
  SESSION_CLOSED: ["had not answered when the session ended"],
};
