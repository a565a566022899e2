import {
  type Edit,
  type Envelope,
  readMember,
  readScalar,
  type Span,
  scanEnvelope,
  spanType,
  splice,
} from "@berth/jsonrpc-framing";
import { copySpan, encodeText, errorFrame, notificationFrame, replacing } from "../translate.js";
import { metaNames } from "./client-terms.js";
import { type FrontParts, paramsInvalid } from "./front-parts.js";
import { cancelFrame } from "./listening.js";
import type { Asking, ModernCall } from "./modern-calls.js";
import { insertion, withMembers } from "./object-edits.js";
import { retryMembers } from "./rounds.js";

/** Only these may be answered with questions (MCP 2026-07-28, § Multi round-trip requests). */
const askingMethods: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Requests of the client on their way to the server. */
export interface CallsOut {
  /** Rejects as `Transport.send` does; the call is then over. */
  forward(frame: Uint8Array, envelope: Envelope): Promise<void>;
  /** The same call again, with what the client answered. */
  retry(call: ModernCall, asking: Asking): void;
  cancel(frame: Uint8Array, envelope: Envelope): void;
  /** Takes questions back that the client has not answered. */
  withdraw(asking: Asking | undefined): void;
}

/** Requests get the relay's ids and its `_meta`; the rest stays to the byte. */
export function createCallsOut({ calls, meta, nextId, send, toServer, toClient }: FrontParts): CallsOut {
  const withdraw = (asking: Asking | undefined): void => {
    for (const id of asking?.open.keys() ?? []) toClient(withdrawal(id));
  };
  return {
    withdraw,
    async forward(frame, { id, method = "", params }) {
      if (id === undefined) return;
      const idBytes = copySpan(frame, id);
      const edit = metaEdit(frame, id, params, meta());
      if (edit === undefined) {
        toClient(errorFrame(idBytes, paramsInvalid));
        return;
      }
      const upstreamId = nextId();
      const sent = splice(frame, [replacing(id, quoted(upstreamId)), edit]);
      const kept = askingMethods.has(method) ? sent : undefined;
      const call = { idBytes, id: id.value, method, sent: kept, rounds: 0, upstreamId, asking: undefined };
      calls.add(call);
      try {
        await send(sent);
      } catch (error) {
        calls.drop(call);
        throw error;
      }
    },
    retry(call, { round, replies }) {
      const { sent } = call;
      if (sent === undefined) throw new Error("a call that may be asked back is kept");
      const upstreamId = nextId();
      calls.move(call, upstreamId);
      const { id, params } = scanEnvelope(sent);
      if (id === undefined || params === undefined) throw new Error("what was sent has an id and params");
      const members = retryMembers(replies, round.state);
      const more = members === "" ? [] : [insertion(sent, params, members)];
      toServer(splice(sent, [replacing(id, quoted(upstreamId)), ...more]));
    },
    cancel(frame, { params }) {
      const span = params && readMember(frame, params, ["requestId"]);
      const id = span && readScalar(frame, span);
      const call = typeof id === "string" || typeof id === "number" ? calls.byClient(id) : undefined;
      if (call === undefined) return;
      withdraw(call.asking);
      if (call.upstreamId !== undefined) toServer(cancelFrame(call.upstreamId));
      calls.drop(call);
    },
  };
}

function quoted(id: string): Uint8Array {
  return encodeText(JSON.stringify(id));
}

function withdrawal(id: string): Uint8Array {
  return notificationFrame(
    "notifications/cancelled",
    `{"requestId":${JSON.stringify(id)},"reason":"the call it belongs to is over"}`,
  );
}

/** `params._meta` with the relay's keys; undefined where `params` or its `_meta` is no object. */
function metaEdit(frame: Uint8Array, id: Span, params: Span | undefined, members: string): Edit | undefined {
  if (params === undefined)
    return { start: id.end, end: id.end, bytes: encodeText(`,"params":{"_meta":{${members}}}`) };
  if (spanType(frame, params) !== "object") return undefined;
  const meta = readMember(frame, params, ["_meta"]);
  if (meta === undefined) return insertion(frame, params, `"_meta":{${members}}`);
  return spanType(frame, meta) === "object" ? withMembers(frame, meta, metaNames, members) : undefined;
}
