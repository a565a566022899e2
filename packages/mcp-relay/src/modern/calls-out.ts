import {
  type Edit,
  type Envelope,
  isFramingError,
  readMember,
  readScalar,
  type Span,
  scanEnvelope,
  spanType,
  splice,
} from "@berth/jsonrpc-framing";
import { isStdioTransportError } from "@berth/stdio-transport";
import { copySpan, encodeText, errorFrame, notificationFrame, replacing } from "../translate.js";
import { metaNames } from "./client-terms.js";
import { type FrontParts, paramsInvalid } from "./front-parts.js";
import { cancelFrame } from "./listening.js";
import type { Asking, ModernCall } from "./modern-calls.js";
import { insertion, withMembers } from "./object-edits.js";
import { retryMembers, retryNames } from "./rounds.js";

/** Only these may be answered with questions (MCP 2026-07-28, § Multi round-trip requests). */
export const askingMethods: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Requests of the client on their way to the server. */
export interface CallsOut {
  /** Rejects as `Transport.send` does; the call is then over. */
  forward(frame: Uint8Array, envelope: Envelope): Promise<void>;
  /** The same call again, with what the client answered. */
  retry(call: ModernCall, asking: Asking): void;
  cancel(frame: Uint8Array, envelope: Envelope): void;
}

/** Requests get the relay's ids and its `_meta`; the rest stays to the byte. */
export function createCallsOut(parts: FrontParts): CallsOut {
  const { calls, meta, nextId, send, toServer, toClient, fail } = parts;
  /** Nobody else would hear that it did not leave. */
  const sendAgain = async (call: ModernCall, upstreamId: string, frame: Uint8Array): Promise<void> => {
    try {
      await send(frame);
    } catch (error) {
      // A closed transport tells of the server's end by itself.
      const isTold = isStdioTransportError(error) && error.code === "TRANSPORT_CLOSED";
      if (isTold || calls.byUpstream(upstreamId) !== call) return;
      fail(call, `its questions were answered, and the answers could not be sent: ${String(error)}`);
    }
  };
  return {
    async forward(frame, { id, method = "", params }) {
      if (id === undefined) return;
      const idBytes = copySpan(frame, id);
      const edits = metaEdits(frame, id, params, meta());
      if (edits === undefined) {
        toClient(errorFrame(idBytes, paramsInvalid));
        return;
      }
      const upstreamId = nextId();
      const sent = splice(frame, [replacing(id, quoted(upstreamId)), ...edits]);
      const isKept = askingMethods.has(method) && calls.hasRoom(sent.length);
      const call: ModernCall = {
        ...{ idBytes, id: id.value, method, upstreamId, rounds: 0, asking: undefined },
        ...{ sent: isKept ? sent : undefined, keptBytes: isKept ? sent.length : 0 },
      };
      calls.add(call);
      try {
        await send(sent);
      } catch (error) {
        calls.drop(call);
        throw error;
      }
    },
    retry(call, { state, replies }) {
      const { sent } = call;
      if (sent === undefined) throw new Error("a call that may be asked back is kept");
      const upstreamId = nextId();
      calls.move(call, upstreamId);
      const { id, params } = scanEnvelope(sent);
      if (id === undefined || params === undefined) throw new Error("what was sent has an id and params");
      const more = membersEdits(sent, params, retryNames, retryMembers(replies, state));
      if (more === undefined) fail(call, "it has too many parameters to be sent again");
      else void sendAgain(call, upstreamId, splice(sent, [replacing(id, quoted(upstreamId)), ...more]));
    },
    cancel(frame, { params }) {
      const span = params && readMember(frame, params, ["requestId"]);
      const id = span && readScalar(frame, span);
      const call = typeof id === "string" || typeof id === "number" ? calls.byClient(id) : undefined;
      if (call === undefined) return;
      withdraw(parts, call);
      if (call.upstreamId !== undefined) toServer(cancelFrame(call.upstreamId));
      calls.drop(call);
    },
  };
}

/** Takes questions of a call back that the client has not answered. */
export function withdraw({ toClient }: Pick<FrontParts, "toClient">, { asking }: ModernCall): void {
  for (const id of asking?.open.keys() ?? []) {
    const params = `{"requestId":${JSON.stringify(id)},"reason":"the call it belongs to is over"}`;
    toClient(notificationFrame("notifications/cancelled", params));
  }
}

function quoted(id: string): Uint8Array {
  return encodeText(JSON.stringify(id));
}

/** `params._meta` with the relay's keys; undefined where `params` or its `_meta` is no object, or one of too many members. */
function metaEdits(
  frame: Uint8Array,
  id: Span,
  params: Span | undefined,
  members: string,
): readonly Edit[] | undefined {
  if (params === undefined)
    return [{ start: id.end, end: id.end, bytes: encodeText(`,"params":{"_meta":{${members}}}`) }];
  if (spanType(frame, params) !== "object") return undefined;
  const meta = readMember(frame, params, ["_meta"]);
  if (meta === undefined) return [insertion(frame, params, `"_meta":{${members}}`)];
  return spanType(frame, meta) === "object" ? membersEdits(frame, meta, metaNames, members) : undefined;
}

/** As `withMembers`; undefined for an object of too many members. */
function membersEdits(
  frame: Uint8Array,
  object: Span,
  names: ReadonlySet<string>,
  members: string,
): readonly Edit[] | undefined {
  try {
    return withMembers(frame, object, names, members);
  } catch (error) {
    if (isFramingError(error)) return undefined;
    throw error;
  }
}
