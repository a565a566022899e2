import {
  type Envelope,
  isFramingError,
  readMember,
  readScalar,
  scanEnvelope,
  spanType,
  wireErrors,
} from "@berth/jsonrpc-framing";
import { decideEra, isEraError, legacyRevisions, modernMetaKeys } from "@berth/mcp-server/protocol";
import type { FrameReceiver } from "@berth/stdio-transport";
import { encodeText, errorFrame } from "../translate.js";
import { takeNotification } from "./client-notices.js";
import type { ClientCall } from "./open-calls.js";
import { type RouteParts, routeCall } from "./routes.js";

/** Members of a client's `params` that the relay looks at. */
const wantedMembers = [
  "name",
  "_meta",
  "uri",
  "ref",
  "task",
  "taskId",
  "cursor",
  "level",
  "protocolVersion",
  "requestId",
  "progressToken",
];
const wantedToLookInto = [...wantedMembers, "arguments"];
/** A member that is looked at must mean the same to the server, whichever of two its parser takes. */
const strictly = { grammar: "full", duplicateKeys: "refuse" } as const;
const served = { legacy: legacyRevisions, modern: [] };

/** The parts that deal with the client's messages. */
export interface FrontParts extends RouteParts {
  onClose(): void;
}

/**
 * What the client sends, taken one message at a time. A bad line is answered with its error and the session lives: the client is the one
 * that would have to be ended.
 */
export function createFront(parts: FrontParts): FrameReceiver {
  const { session } = parts;
  const refuseLine = (code: number, message: string, id?: string | number): void => {
    session.client.send(errorFrame(id === undefined ? undefined : encodeText(JSON.stringify(id)), { code, message }));
  };
  return {
    onFrame({ bytes }) {
      const wanted = session.intercepting === undefined ? wantedMembers : wantedToLookInto;
      let envelope: Envelope;
      try {
        envelope = scanEnvelope(bytes, wanted, strictly);
      } catch (error) {
        if (!isFramingError(error)) throw error;
        refuseLine(error.wireCode, error.message, error.requestId);
        return;
      }
      if (envelope.kind === "notification") takeNotification(session, bytes, envelope);
      else if (envelope.kind !== "request") session.requests.answer(bytes, envelope);
      else {
        const call = session.calls.open(bytes, envelope);
        if (call !== undefined) takeRequest(parts, call);
      }
    },
    onOversize({ byteLength, envelope }) {
      // Only what may be a request is answered.
      if (envelope !== undefined && envelope.kind !== "request") return;
      refuseLine(wireErrors.invalidRequest, `a message of ${byteLength} bytes is over the limit`, envelope?.id);
    },
    onFault({ code, wireCode, message }) {
      if (code !== "STREAM_TRUNCATED") refuseLine(wireCode, message);
    },
    onClose: () => parts.onClose(),
  };
}

function takeRequest(parts: FrontParts, call: ClientCall): void {
  const { session, handshake } = parts;
  try {
    decideEra(eraQuestion(call, handshake.hello !== undefined), served);
  } catch (error) {
    if (!isEraError(error)) throw error;
    session.calls.answer(call, errorFrame(call.idBytes, { message: error.message, ...error.wire }));
    return;
  }
  routeCall(parts, call);
}

function eraQuestion({ frame, envelope, method }: ClientCall, initialized: boolean) {
  const meta = envelope.members?.get("_meta");
  const version = meta && readMember(frame, meta, [modernMetaKeys.protocolVersion]);
  const capabilities = meta && readMember(frame, meta, [modernMetaKeys.clientCapabilities]);
  return {
    method,
    initialized,
    metaVersion: version && (readScalar(frame, version) ?? null),
    hasClientCapabilities: capabilities !== undefined && spanType(frame, capabilities) === "object",
  };
}
