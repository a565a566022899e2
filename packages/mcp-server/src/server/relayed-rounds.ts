import { type JsonObject, type JsonValue, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { deepFreeze, isObject } from "../json.js";
import type { SchemaCompiler } from "../json-schema/index.js";
import type { RequestContext } from "./context.js";
import type { Core } from "./core.js";
import type { RequestScope } from "./definitions.js";
import { askRaw, type PendingInput, requireAskable } from "./input.js";
import { questionsFault } from "./question-check.js";
import { RelayScope } from "./scope.js";

/** One request for something that another server has. */
export interface RelayedCall<P> extends Omit<RequestScope<P>, "requestInput" | "releaseStream"> {
  /**
   * `params` of the request as it came, frozen, to be sent on: its arguments were not checked. Of a client before 2026-07-28 that answered the other server's questions
   * it has `inputResponses` and `requestState`, as those of newer clients do.
   */
  readonly params: JsonObject;
}

/** Asks the other server once. */
export type Relay<P> = (call: RelayedCall<P>) => Promise<JsonObject>;

const maxRounds = 16;
const maxQuestions = 32;

/**
 * The result that ends the request at this server: of 2026-07-28 also the questions, which its client asks for itself.
 * @param what Names what is relayed, in errors.
 */
export async function relayRounds<P>(
  core: Core<P>,
  context: RequestContext<P>,
  what: string,
  relay: Relay<P>,
): Promise<JsonObject> {
  // As before a handler: one that was cancelled meanwhile is not begun.
  if (context.interrupted) context.signal.throwIfAborted();
  return ended(core, context, what, (params) => askOnce(core, context, what, relay, params));
}

/** As `relayRounds`, for methods that ask nothing back. */
export async function relayOnce<P>(
  core: Core<P>,
  context: RequestContext<P>,
  what: string,
  relay: Relay<P>,
): Promise<JsonObject> {
  if (context.interrupted) context.signal.throwIfAborted();
  const result = await askOnce(core, context, what, relay, context.params);
  if (typeOf(result) !== "complete") throw failed(what, "gave a result of another type");
  return result;
}

/** Without what clients before 2026-07-28 do not know, and strict ones refuse. */
export function legacyResult({
  resultType: _type,
  ttlMs: _ttl,
  cacheScope: _scope,
  ...result
}: JsonObject): JsonObject {
  return result;
}

async function askOnce<P>(
  { compiler }: Core<P>,
  context: RequestContext<P>,
  what: string,
  relay: Relay<P>,
  params: JsonObject,
): Promise<JsonObject> {
  const given: unknown = await relay(new RelayScope(context, compiler, params));
  if (!isObject(given)) throw failed(what, "gave a result that is no object");
  return given;
}

type Ask = (params: JsonObject) => Promise<JsonObject>;

async function ended<P>(core: Core<P>, context: RequestContext<P>, of: string, ask: Ask): Promise<JsonObject> {
  const { era, params } = context;
  if (era === "modern") {
    const result = await ask(params);
    const type = typeOf(result);
    if (type === "input_required") checkQuestions(context, core.compiler, of, result);
    else if (type !== "complete") throw failed(of, "gave a result of another type");
    return result;
  }
  const { inputResponses: _responses, requestState: _state, ...first } = params; // not a client's to say before 2026-07-28
  let result = await ask(deepFreeze(first));
  for (let round = 1; typeOf(result) === "input_required"; round += 1) {
    if (round > maxRounds) throw failed(of, `asked for input more than ${maxRounds} times`);
    if (context.interrupted) context.signal.throwIfAborted();
    result = await ask(deepFreeze(await answered(context, core.compiler, of, first, result)));
  }
  if (typeOf(result) !== "complete") throw failed(of, "gave a result of another type");
  return result;
}

function typeOf({ resultType = "complete" }: JsonObject): JsonValue {
  return resultType;
}

/** What no client can be asked, or this one did not offer, is not handed on. */
function checkQuestions<P>(
  context: RequestContext<P>,
  compiler: SchemaCompiler,
  of: string,
  { inputRequests, requestState }: JsonObject,
): PendingInput | undefined {
  if (inputRequests === undefined && requestState === undefined) throw failed(of, "asked for input and for nothing");
  if (inputRequests === undefined) return undefined;
  const questions = readQuestions(inputRequests, compiler);
  if (questions === undefined) throw failed(of, "asked something that no client can be asked");
  if (Object.keys(questions).length > maxQuestions)
    throw failed(of, `asked more than ${maxQuestions} questions at once`);
  requireAskable(context, questions);
  return questions;
}

/** `params` for the next round: the client was asked in requests. */
async function answered<P>(
  context: RequestContext<P>,
  compiler: SchemaCompiler,
  of: string,
  params: JsonObject,
  result: JsonObject,
): Promise<JsonObject> {
  const questions = checkQuestions(context, compiler, of, result);
  const { requestState } = result;
  const state: JsonObject = requestState === undefined ? {} : { requestState };
  if (questions === undefined) return { ...params, ...state };
  return { ...params, inputResponses: await askRaw(context, questions), ...state };
}

function readQuestions(requests: JsonValue, compiler: SchemaCompiler): PendingInput | undefined {
  return isQuestions(requests, compiler) ? requests : undefined;
}

function isQuestions(value: unknown, compiler: SchemaCompiler): value is PendingInput {
  return isObject(value) && questionsFault(value, compiler) === undefined;
}

function failed(of: string, what: string): RpcError {
  return new RpcError(wireErrors.internal, `the server of ${of} ${what}`);
}
