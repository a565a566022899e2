import { type JsonObject, type JsonValue, wireErrors } from "@berth/jsonrpc-framing";
import { ResultError, RpcError } from "../errors.js";
import { isObject } from "../json.js";
import type { SchemaCompiler } from "../json-schema/index.js";
import { mcpErrors } from "../wire-errors.js";
import type { RequestContext } from "./context.js";
import { questionsFault } from "./question-check.js";
import type { InputAnswers, InputQuestion, InputRequest } from "./questions.js";

/** Questions that the client has to answer before the handler can go on. */
export type PendingInput = Readonly<Record<string, InputRequest>>;
type Answers = Readonly<Record<string, JsonObject>>;

/** Ends a handler of 2026-07-28 whose questions go out with the answer. Never seen by the peer. */
export class InputRequired extends Error {
  override readonly name = "InputRequired";
}

/** See `RequestScope.requestInput`. */
export function requestInput<P, const Q extends Readonly<Record<string, InputQuestion>>>(
  context: RequestContext<P>,
  requests: Q,
  compiler: SchemaCompiler,
): Promise<InputAnswers<Q>>;
export async function requestInput<P>(
  context: RequestContext<P>,
  requests: PendingInput,
  compiler: SchemaCompiler,
): Promise<Answers> {
  const fault = questionsFault(requests, compiler);
  if (fault !== undefined) {
    context.askedWrongly = new ResultError(`the handler of ${context.method} "${context.name ?? ""}" asked ${fault}`);
    throw context.askedWrongly;
  }
  for (const request of Object.values(requests)) requireCapability(context, request);
  if (context.task !== undefined) return context.task.ask(requests);
  const raw = context.era === "modern" ? given(context, requests) : await askAll(context, requests);
  const answers: [string, JsonObject][] = [];
  for (const [key, request] of Object.entries(requests)) {
    answers.push([key, checkAnswer(key, request, raw[key], compiler)]);
  }
  return Object.fromEntries(answers);
}

function given<P>(context: RequestContext<P>, requests: PendingInput): JsonObject {
  const missing = Object.entries(requests).filter(([key]) => !Object.hasOwn(context.answers, key));
  if (missing.length === 0) return context.answers;
  context.pendingInput = Object.fromEntries(missing);
  throw new InputRequired("the client is asked; the handler runs again with its answers");
}

/** Asks a client of an older revision, and gives what it answered as it is. @throws {RpcError} as `requestInput`. */
export async function askRaw<P>(context: RequestContext<P>, requests: PendingInput): Promise<JsonObject> {
  requireAskable(context, requests);
  return askAll(context, requests);
}

/** @throws {RpcError} when the client did not declare what is needed to ask it. */
export function requireAskable<P>(context: RequestContext<P>, requests: PendingInput): void {
  for (const request of Object.values(requests)) requireCapability(context, request);
}

/** All or none: when one fails, or the call ends, the others are cancelled. */
async function askAll<P>({ connection, id, ending }: RequestContext<P>, requests: PendingInput): Promise<JsonObject> {
  const questions = Object.entries(requests);
  connection.requireRoom(questions.length);
  const open = new AbortController();
  const onEnding = (): void => open.abort(ending.reason);
  ending.addEventListener("abort", onEnding, { once: true });
  if (ending.aborted) onEnding();
  const asking = questions.map(async ([key, { method, params }]): Promise<[string, JsonValue]> => {
    return [key, await connection.ask({ method, params, request: id }, open.signal)];
  });
  try {
    return Object.fromEntries(await Promise.all(asking));
  } catch (error) {
    open.abort(new Error("another question of the call failed"));
    await Promise.allSettled(asking); // their cancellations leave before the answer of the call does
    throw error;
  } finally {
    ending.removeEventListener("abort", onEnding);
  }
}

function requireCapability<P>({ clientCapabilities, era }: RequestContext<P>, request: InputRequest): void {
  const needed = missingCapability(clientCapabilities, request);
  if (needed === undefined) return;
  const code = era === "modern" ? mcpErrors.missingRequiredClientCapability : wireErrors.invalidParams;
  throw new RpcError(code, `the client did not declare a capability that is needed for ${request.method}`, {
    data: { requiredCapabilities: needed },
  });
}

function missingCapability(has: JsonObject, request: InputRequest): JsonObject | undefined {
  switch (request.method) {
    case "roots/list":
      return isObject(has["roots"]) ? undefined : { roots: {} };
    case "sampling/createMessage": {
      const sampling = has["sampling"];
      const tools = request.params["tools"] !== undefined;
      if (isObject(sampling) && (!tools || isObject(sampling["tools"]))) return undefined;
      return { sampling: tools ? { tools: {} } : {} };
    }
    case "elicitation/create": {
      const mode = request.params["mode"] === "url" ? "url" : "form";
      return elicits(has["elicitation"], mode) ? undefined : { elicitation: { [mode]: {} } };
    }
  }
}

/** An elicitation capability without members means forms (MCP 2025-11-25, Elicitation § Capabilities). */
function elicits(declared: JsonValue | undefined, mode: "form" | "url"): boolean {
  if (!isObject(declared)) return false;
  return isObject(declared[mode]) || (mode === "form" && !isObject(declared["url"]));
}

/** MCP 2025-11-25, Schema § Root. */
function isRoot(one: JsonValue): boolean {
  return isObject(one) && typeof one["uri"] === "string";
}

/** @throws {RpcError} -32602 for an answer that is none to this question. */
export function checkAnswer(
  key: string,
  { method, params }: InputRequest,
  answer: JsonValue | undefined,
  compiler: SchemaCompiler,
): JsonObject {
  const bad = (what: string): RpcError => new RpcError(wireErrors.invalidParams, `the answer to "${key}" ${what}`);
  if (!isObject(answer)) throw bad("is not an object");
  if (method === "roots/list") {
    const { roots } = answer;
    if (!Array.isArray(roots)) throw bad("has no roots");
    if (!roots.every(isRoot)) throw bad("has a root without a uri");
  }
  if (method === "sampling/createMessage" && (typeof answer["role"] !== "string" || answer["content"] === undefined)) {
    throw bad("has no role or no content");
  }
  if (method !== "elicitation/create") return answer;
  const { action, content } = answer;
  if (action !== "accept" && action !== "decline" && action !== "cancel") throw bad("has no known action");
  if (action !== "accept" || params["mode"] === "url") return answer;
  if (!isObject(content)) throw bad("was accepted without content");
  const schema = params["requestedSchema"];
  const result = isObject(schema) ? compiler.compile(schema).validate(content) : undefined;
  if (result?.valid === false)
    throw bad(`does not fit the form: ${result.problems[0]?.path ?? ""} ${result.problems[0]?.message ?? ""}`);
  return answer;
}
