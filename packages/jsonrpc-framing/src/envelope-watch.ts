import { classify, type EnvelopeFacts } from "./envelope-rules.js";
import {
  type EnvelopeName,
  envelopeName,
  type IdReading,
  isVersion,
  methodFact,
  paramsFact,
  readId,
} from "./envelope-values.js";
import type { OversizeEnvelope } from "./frame.js";
import { OPEN_BRACE } from "./json-bytes.js";
import { createMemberWatch, type MemberListener } from "./member-watch.js";
import { createUtf8Check } from "./utf8.js";

/** Finds the envelope of a frame that is not kept, from its bytes going by, in constant memory. */
export interface EnvelopeWatch {
  push(bytes: Buffer): void;
  /** The envelope, if what went by was one message for certain. */
  finish(): OversizeEnvelope | undefined;
}

/** What has been seen so far; the last of equal members counts. */
interface SeenMembers {
  version: boolean;
  id: IdReading | undefined;
  method: EnvelopeFacts["method"];
  params: EnvelopeFacts["params"];
  result: boolean;
  error: EnvelopeFacts["error"];
}

/** See `EnvelopeWatch`. Says what `scanEnvelope` would say of the whole frame, except that it does not look into `error`. */
export function createEnvelopeWatch(): EnvelopeWatch {
  const utf8 = createUtf8Check();
  const seen: SeenMembers = {
    version: false,
    id: undefined,
    method: "absent",
    params: "absent",
    result: false,
    error: "absent",
  };
  const members = createMemberWatch(createListener(seen));
  return {
    push(bytes) {
      utf8.push(bytes);
      members.push(bytes);
    },
    finish() {
      if (!members.complete || !utf8.finish()) return undefined;
      const { id } = seen;
      const kind = classify({ ...seen, id: id?.state ?? "absent" });
      return typeof kind === "string" ? { kind, id: id?.value } : undefined;
    },
  };
}

function createListener(seen: SeenMembers): MemberListener {
  let name: EnvelopeName | undefined;
  return {
    onKey(key) {
      name = envelopeName(key, 0, key.length);
      return name === "id" || name === "method" || name === "jsonrpc";
    },
    onValue(first, token) {
      note(seen, name, first, token ?? Buffer.of(first));
    },
  };
}

/** The token of a value that was not kept is its first byte: enough to tell what type it has. */
function note(seen: SeenMembers, name: EnvelopeName | undefined, first: number, token: Buffer): void {
  switch (name) {
    case "id":
      seen.id = readId(token, 0, token.length);
      break;
    case "jsonrpc":
      seen.version = isVersion(token, 0, token.length);
      break;
    case "method":
      seen.method = methodFact(token, 0, token.length);
      break;
    case "params":
      seen.params = paramsFact(first);
      break;
    case "result":
      seen.result = true;
      break;
    case "error":
      seen.error = first === OPEN_BRACE ? "valid" : "invalid";
      break;
    default: // a member that JSON-RPC does not know
  }
}
