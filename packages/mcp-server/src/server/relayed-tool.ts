import { type JsonObject, type JsonValue, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { deepFreeze, isObject, toJson } from "../json.js";
import type { SchemaCompiler } from "../json-schema/index.js";
import { anObject } from "../option-check.js";
import type { ProtocolRevision } from "../revisions.js";
import type { Say } from "./collect.js";
import type { RequestContext } from "./context.js";
import { type Core, complete } from "./core.js";
import type { RequestScope } from "./definitions.js";
import { headerFaults } from "./header-annotations.js";
import { type HeaderArgument, headerArgumentsOf } from "./header-arguments.js";
import { askRaw, type PendingInput, requireAskable } from "./input.js";
import type { Listed } from "./list.js";
import { questionsFault } from "./question-check.js";
import { knows } from "./render.js";
import { RelayScope } from "./scope.js";
import { gate } from "./tool-result.js";

/** One call of a tool that another server has. */
export interface RelayedCall<P> extends Omit<RequestScope<P>, "requestInput" | "releaseStream"> {
  /**
   * `params` of the request as it came, frozen, to be sent on: its arguments were not checked. Of a client before 2026-07-28 that answered the tool's questions
   * it has `inputResponses` and `requestState`, as those of newer clients do.
   */
  readonly params: JsonObject;
}

/** A tool of another server that speaks 2026-07-28, shown and answered as that server does it. */
export interface RelayedTool<P> {
  /** What the authorizer is asked for. */
  readonly permission: string;
  /** As the other server lists it, under the name that it has here. Clients before 2026-07-28 are shown the members that they know. */
  readonly definition: JsonObject;
  /**
   * Resolves with the result of 2026-07-28, which is sent as it is; one of the type `input_required` becomes requests to clients of older revisions, at most 32 at once and 16 times a
   * call. An `RpcError` is answered as it is.
   */
  call(call: RelayedCall<P>): Promise<JsonObject>;
}

/** A relayed tool as it runs. */
export interface BoundRelay<P> extends Listed {
  readonly relay: RelayedTool<P>["call"];
  readonly headerArguments: readonly HeaderArgument[];
}

const maxRounds = 16;
const maxQuestions = 32;
/** Members of a definition that all revisions know, and those that came later. */
const listed = ["name", "description", "inputSchema"] as const;
const listedSince = ["title", "icons", "annotations", "outputSchema", "_meta"] as const;

/** @param given May be anything: it comes from whoever uses this package. */
export function bindRelay<P>(given: RelayedTool<P>, say: Say): BoundRelay<P> | undefined {
  if (!anObject.fits(given)) {
    say("is no object");
    return undefined;
  }
  const { permission, call } = given;
  const definition = ownCopy(given.definition);
  if (typeof permission !== "string" || permission === "") say("names no permission");
  if (typeof call !== "function") say("has no call function");
  if (!isObject(definition) || typeof definition["name"] !== "string") {
    say("has no definition with a name");
    return undefined;
  }
  const { name, inputSchema } = definition;
  if (!/^[\w.-]{1,128}$/.test(name)) say("a tool's name is 1 to 128 of A-Z a-z 0-9 _ - .");
  if (!isObject(inputSchema) || inputSchema["type"] !== "object") {
    say('inputSchema needs "type": "object" at its root');
    return undefined;
  }
  for (const message of headerFaults(inputSchema)) say(message);
  const render = (revision: ProtocolRevision): JsonObject => shown(definition, revision);
  return { name, permission, relay: call, headerArguments: headerArgumentsOf(inputSchema), render };
}

/** What whoever gave it does to it later changes nothing of what is shown. */
function ownCopy(definition: unknown): JsonObject | undefined {
  if (!isObject(definition)) return undefined;
  try {
    return deepFreeze(toJson(definition));
  } catch {
    return undefined; // no JSON: as if it had none
  }
}

function shown(definition: JsonObject, revision: ProtocolRevision): JsonObject {
  if (revision >= "2026-07-28") return definition;
  const { outputSchema } = definition;
  const later = listedSince.filter((member) => knows(revision, member));
  const isShown = (member: string): boolean =>
    member !== "outputSchema" || (isObject(outputSchema) && outputSchema["type"] === "object");
  const members = [...listed, ...later].filter((member) => Object.hasOwn(definition, member) && isShown(member));
  return toJson(Object.fromEntries(members.map((member) => [member, definition[member]])));
}

/** `tools/call` of a relayed tool. */
export async function relayTool<P>(
  core: Core<P>,
  context: RequestContext<P>,
  { name, relay }: BoundRelay<P>,
): Promise<JsonObject> {
  // As before a handler: one that was cancelled meanwhile is not begun.
  if (context.interrupted) context.signal.throwIfAborted();
  const result = await ended(core, context, name, async (params) => {
    const given: unknown = await relay(new RelayScope(context, core.compiler, params));
    if (!isObject(given)) throw failed(name, "gave a result that is no object");
    return given;
  });
  if (result["isError"] === true) context.outcome = "tool-error";
  return context.era === "modern" ? complete(core, context, result) : gate(legacyResult(result), context);
}

type Ask = (params: JsonObject) => Promise<JsonObject>;

/** The result that ends the call at this server: of 2026-07-28 also the questions, which its client asks for itself. */
async function ended<P>(core: Core<P>, context: RequestContext<P>, name: string, ask: Ask): Promise<JsonObject> {
  const { era, params } = context;
  if (era === "modern") {
    const result = await ask(params);
    const type = typeOf(result);
    if (type === "input_required") checkQuestions(context, core.compiler, name, result);
    else if (type !== "complete") throw failed(name, "gave a result of another type");
    return result;
  }
  const { inputResponses: _responses, requestState: _state, ...first } = params; // not a client's to say before 2026-07-28
  let result = await ask(deepFreeze(first));
  for (let round = 1; typeOf(result) === "input_required"; round += 1) {
    if (round > maxRounds) throw failed(name, `asked for input more than ${maxRounds} times`);
    if (context.interrupted) context.signal.throwIfAborted();
    result = await ask(deepFreeze(await answered(context, core.compiler, name, first, result)));
  }
  if (typeOf(result) !== "complete") throw failed(name, "gave a result of another type");
  return result;
}

function typeOf({ resultType = "complete" }: JsonObject): JsonValue {
  return resultType;
}

/** What no client can be asked, or this one did not offer, is not handed on. */
function checkQuestions<P>(
  context: RequestContext<P>,
  compiler: SchemaCompiler,
  name: string,
  { inputRequests, requestState }: JsonObject,
): PendingInput | undefined {
  if (inputRequests === undefined && requestState === undefined) throw failed(name, "asked for input and for nothing");
  if (inputRequests === undefined) return undefined;
  const questions = readQuestions(inputRequests, compiler);
  if (questions === undefined) throw failed(name, "asked something that no client can be asked");
  if (Object.keys(questions).length > maxQuestions)
    throw failed(name, `asked more than ${maxQuestions} questions at once`);
  requireAskable(context, questions);
  return questions;
}

/** `params` for the next round: the client was asked in requests. */
async function answered<P>(
  context: RequestContext<P>,
  compiler: SchemaCompiler,
  name: string,
  params: JsonObject,
  result: JsonObject,
): Promise<JsonObject> {
  const questions = checkQuestions(context, compiler, name, result);
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

function legacyResult({ resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...result }: JsonObject): JsonObject {
  return result;
}

function failed(name: string, what: string): RpcError {
  return new RpcError(wireErrors.internal, `the server of tool "${name}" ${what}`);
}
