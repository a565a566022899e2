import { readMember, type Scheduler, systemScheduler, wireErrors } from "@berth/jsonrpc-framing";
import type { UpstreamConnection } from "./connection.js";
import { canonicalDefinition, type Definition, type NameMember, readDefinition } from "./drift.js";
import { isRelayError, RelayError } from "./errors.js";
import { type ListKind, listKinds } from "./list-kinds.js";
import { readServerTerms } from "./relay-terms.js";
import type { PinnedInitialize } from "./server-policy.js";
import { copySpan, errorFrame, notificationFrame, requestFrame, resultFrame } from "./translate.js";
import { fetchList, maxElements } from "./upstream/fetch-list.js";
import { type Introduction, introduce } from "./upstream/handshake.js";
import { repeatedNames } from "./upstream/judge-list.js";
import { createPeer, type Peer } from "./upstream/peer.js";
import { quotedName, visibleText } from "./visible-text.js";
import { RelayFault, upstreamGone, wireErrorOf } from "./wire-errors.js";

/** What a server says of itself and offers, in the form that is pinned. */
export interface ServerInspection {
  readonly initialize: PinnedInitialize;
  readonly tools: readonly Definition[];
  readonly prompts: readonly Definition[];
  readonly resourceTemplates: readonly Definition[];
  /** Elements that cannot be pinned, as sentences: without name, named twice, a member twice. They are in none of the lists. */
  readonly problems: readonly string[];
}

/** How to ask. */
export interface InspectOptions {
  /** Name of the server in errors. */
  readonly server: string;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** From the first request to the end of the handshake, in milliseconds. Default 30_000. */
  readonly startMs?: number | undefined;
  /** One list with all its pages. Default 15_000. */
  readonly listMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly scheduler?: Scheduler | undefined;
}

/**
 * Starts a session with a server as a client that can do everything, lists what it offers (all pages; what it has no capability for is empty)
 * and ends it. The connection is closed in every case. Of the server's own requests `ping` is answered, `roots/list` with none, all others
 * are not served.
 *
 * @throws {RelayError} `SERVER_UNREADABLE`: it did not answer, or not in MCP; the text says what and the way out. A refusal of `recheck` and
 * the signal's reason come as they are.
 */
export async function inspectServer(
  connection: UpstreamConnection,
  options: InspectOptions,
): Promise<ServerInspection> {
  const { server, signal } = options;
  const { startMs, listMs } = options;
  const { waits } = readServerTerms({ name: server, deadlines: { startMs, listMs } });
  const scheduler = options.scheduler ?? systemScheduler;
  let peer: Peer | undefined;
  const onAbort = (): void => peer?.end(upstreamGone(server, "SESSION_CLOSED"));
  try {
    signal?.throwIfAborted();
    peer = createInspectionPeer(connection, server, scheduler);
    signal?.addEventListener("abort", onAbort, { once: true });
    const introduction = await introduce(peer, server, helloOf(options), waits.startMs);
    await connection.recheck?.();
    peer.send(notificationFrame("notifications/initialized"));
    return await readOffers(peer, server, introduction, { listMs: waits.listMs, now: () => scheduler.now() });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof RelayFault)
      throw new RelayError("SERVER_UNREADABLE", wireErrorOf(error).message, { cause: error });
    if (isRelayError(error))
      throw new RelayError("SERVER_UNREADABLE", `server ${JSON.stringify(server)}: ${error.message}`, { cause: error });
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    peer?.end(upstreamGone(server, "SESSION_CLOSED"));
    await (peer?.finished ?? connection.close());
  }
}

function createInspectionPeer(connection: UpstreamConnection, server: string, scheduler: Scheduler): Peer {
  const peer = createPeer({
    server,
    connection,
    onBadLine: "fatal",
    scheduler,
    onRequest(frame, { id, method }) {
      if (id === undefined) return;
      const idBytes = copySpan(frame, id);
      const result = method === "ping" ? "{}" : method === "roots/list" ? '{"roots":[]}' : undefined;
      const refusal = { code: wireErrors.methodNotFound, message: `Method not found: ${method}` };
      peer.send(result === undefined ? errorFrame(idBytes, refusal) : resultFrame(idBytes, result));
    },
    onNotification: () => undefined,
    onFault: () => undefined,
    onNotice: () => undefined,
    onGone: () => undefined,
  });
  return peer;
}

/** Every capability that a client may have: servers offer some tools only to clients that can be asked back, and all are to be seen. */
const allCapabilities = {
  roots: { listChanged: true },
  sampling: { context: {}, tools: {} },
  elicitation: { form: {}, url: {} },
  tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
};

function helloOf({ clientInfo }: InspectOptions): (id: number) => Uint8Array {
  const params = JSON.stringify({ protocolVersion: "2025-11-25", capabilities: allCapabilities, clientInfo });
  return (id) => requestFrame(id, "initialize", params);
}

async function readOffers(
  peer: Peer,
  server: string,
  introduction: Introduction,
  waits: { readonly listMs: number; now(): number },
): Promise<ServerInspection> {
  const problems: string[] = [];
  const read = async (kind: ListKind, nameMember: NameMember): Promise<Definition[]> => {
    if (!introduction.capabilities.has(listKinds[kind].capability)) return [];
    const bounds = { ...waits, maxPages: 100, maxBytes: 16_777_216, maxElements: maxElements.compared };
    const { entries, nameless } = await fetchList(peer, server, listKinds[kind], bounds);
    if (nameless > 0) problems.push(`${nameless} of its ${kind} have no name`);
    const repeated = repeatedNames(entries);
    return entries.flatMap(({ name, frame, span }) => {
      const label = `${kind}: ${quotedName(name)}`;
      if (repeated.has(name)) problems.push(`${label} is listed twice`);
      else {
        try {
          return [readDefinition(frame.subarray(span.start, span.end), nameMember)];
        } catch (error) {
          if (!isRelayError(error)) throw error;
          problems.push(`${label}: ${visibleText(error.message)}`);
        }
      }
      return [];
    });
  };
  return {
    initialize: readPinnedInitialize(introduction),
    tools: await read("tools", "name"),
    prompts: await read("prompts", "name"),
    resourceTemplates: await read("resourceTemplates", "uriTemplate"),
    problems,
  };
}

function readPinnedInitialize({ answer, revision, instructions }: Introduction): PinnedInitialize {
  const { frame, envelope } = answer;
  const text = (member: string): string | undefined => {
    const span = envelope.result && readMember(frame, envelope.result, [member]);
    return span && canonicalDefinition(frame.subarray(span.start, span.end));
  };
  return {
    protocolVersion: revision,
    capabilities: text("capabilities"),
    serverInfo: text("serverInfo"),
    instructions,
  };
}
