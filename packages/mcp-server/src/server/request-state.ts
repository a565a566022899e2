import { type JsonObject, type JsonValue, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { isObject } from "../json.js";

/** Signs what has to come back with a retry, and checks it when it does. It is signed, not secret: the client can read it. */
export interface RequestStateCodec {
  /** @throws {RpcError} -32603 when it would be over the limit. */
  sign(state: RequestState, binding: Binding): string;
  /** @throws {RpcError} -32602 for anything that this server did not sign for this principal and request, or that has expired. */
  open(token: JsonValue, binding: Binding): RequestState;
}

/** What a retry has to know of the rounds before it. */
export interface RequestState {
  /** Keys that were asked in the round that this state was sent with. */
  readonly asked: readonly string[];
  /** Answers of earlier rounds. */
  readonly answers: JsonObject;
}

/** Whom and what a state is good for. */
export interface Binding {
  readonly principal: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** What the codec works with. */
export interface RequestStateOptions {
  /** The first signs, all are accepted. None: a random one is made on first use. */
  readonly keys: readonly Uint8Array[];
  readonly lifetimeMs: number;
  readonly maxBytes: number;
  /** Milliseconds since 1970. */
  now(): number;
}

const version = "v1";

export function createRequestStateCodec(options: RequestStateOptions): RequestStateCodec {
  let keys = options.keys;
  // Loaded on first use: not on the start path of a server that never asks its clients anything.
  const crypto = (): typeof import("node:crypto") => process.getBuiltinModule("node:crypto");
  const signingKeys = (): readonly Uint8Array[] => {
    if (keys.length === 0) keys = [crypto().randomBytes(32)];
    return keys;
  };
  const mac = (key: Uint8Array, body: string, binding: Binding): Buffer =>
    crypto().createHmac("sha256", key).update(`${version}\n${body}\n`).update(bound(binding)).digest();
  return {
    sign(state, binding) {
      const [key] = signingKeys();
      if (key === undefined) throw new Error("there is no signing key");
      const expiresAt = options.now() + options.lifetimeMs;
      const body = Buffer.from(JSON.stringify({ ...state, expiresAt })).toString("base64url");
      const token = `${version}.${body}.${mac(key, body, binding).toString("base64url")}`;
      if (token.length <= options.maxBytes) return token;
      throw new RpcError(wireErrors.internal, `the answers so far are over the limit of ${options.maxBytes} bytes`);
    },
    open(token, binding) {
      const [, body, given] = /^v1\.([\w-]+)\.([\w-]{43})$/.exec(boundedText(token, options.maxBytes)) ?? [];
      if (body === undefined || given === undefined) throw invalid();
      const signature = Buffer.from(given, "base64url");
      if (signature.toString("base64url") !== given) throw invalid(); // its last character has two bits that say nothing
      const signed = signingKeys().some((key) => crypto().timingSafeEqual(mac(key, body, binding), signature));
      if (!signed) throw invalid();
      return readState(body, options.now());
    },
  };
}

function boundedText(token: JsonValue, maxBytes: number): string {
  return typeof token === "string" && token.length <= maxBytes ? token : "";
}

function readState(body: string, now: number): RequestState {
  const state: unknown = JSON.parse(Buffer.from(body, "base64url").toString());
  if (!isObject(state) || !Array.isArray(state["asked"]) || !isObject(state["answers"])) throw invalid();
  if (typeof state["expiresAt"] !== "number" || state["expiresAt"] < now) throw invalid();
  return { asked: state["asked"].filter((key) => typeof key === "string"), answers: state["answers"] };
}

/** One text for all: what exactly was wrong is of use to a forger only. */
function invalid(): RpcError {
  return new RpcError(wireErrors.invalidParams, "requestState is not valid for this request, or has expired");
}

/** The request without what differs between its rounds, in one spelling whatever the order of its members. */
function bound({ principal, method, params }: Binding): string {
  const { _meta, inputResponses, requestState, ...rest } = params;
  return `${JSON.stringify([principal, method])}${canonical(rest)}`;
}

/** Recursion is bounded: messages are at most 128 levels deep. */
function canonical(value: JsonValue | undefined): string {
  // Of -0 and of what 1e400 becomes JSON.stringify makes 0 and null, which are other requests.
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (isObject(value)) {
    const members = Object.keys(value).sort();
    return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
  }
  return `[${Array.from(value, canonical).join(",")}]`;
}
