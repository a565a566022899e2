import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { ResultError, RpcError } from "../errors.js";
import { isObject } from "../json.js";
import type { ProtocolRevision } from "../revisions.js";
import { isAllowed } from "./authorize.js";
import type { RequestContext } from "./context.js";
import { type Core, complete, type Reply } from "./core.js";
import type { PromptResult } from "./definitions.js";
import { knownMessages } from "./known-content.js";
import type { BoundPrompt } from "./registry.js";
import { relayPrompt } from "./relayed-prompt.js";
import { memberFault, messageFault } from "./result-check.js";
import { openState } from "./rounds.js";
import { PromptScope } from "./scope.js";

/** `prompts/get`. */
export async function getPrompt<P>(core: Core<P>, context: RequestContext<P>): Promise<Reply> {
  const { name, arguments: given = {} } = context.params;
  if (typeof name !== "string" || !isObject(given)) {
    throw new RpcError(wireErrors.invalidParams, "prompts/get needs name, a string, and arguments, an object");
  }
  context.name = name;
  const { prompts, relayed } = core.registry;
  const prompt = prompts.get(name) ?? relayed.prompts.get(name);
  if (prompt === undefined || !(await isAllowed(core.options.authorize, context, "prompt", prompt))) {
    throw new RpcError(wireErrors.invalidParams, `Unknown prompt: ${name.slice(0, 128)}`);
  }
  if ("relay" in prompt) return relayPrompt(core, context, prompt);
  const values = readArguments(prompt, given);
  openState(core, context);
  const result = await prompt.definition.handler(new PromptScope(context, core.compiler, values));
  return complete(core, context, shape(name, result, context.revision));
}

/** Unknown ones are left out: they may be of a newer client. */
function readArguments<P>({ definition }: BoundPrompt<P>, given: JsonObject): Readonly<Record<string, string>> {
  const values: [string, string][] = [];
  for (const { name, required } of definition.arguments ?? []) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (typeof value === "string") values.push([name, value]);
    else if (value !== undefined) throw new RpcError(wireErrors.invalidParams, `argument ${name} is not a string`);
    else if (required === true) throw new RpcError(wireErrors.invalidParams, `argument ${name} is missing`);
  }
  return Object.fromEntries(values);
}

const members: readonly (keyof Exclude<PromptResult, string>)[] = ["description", "messages", "_meta"];

function shape(name: string, result: PromptResult, revision: ProtocolRevision): JsonObject {
  if (typeof result === "string") return { messages: [{ role: "user", content: { type: "text", text: result } }] };
  if (!isObject(result) || !Array.isArray(result.messages)) {
    throw new ResultError(`the handler of prompt "${name}" returned neither a string nor messages`);
  }
  const wrong = (what: string): ResultError => new ResultError(`the handler of prompt "${name}" returned ${what}`);
  const unknown = memberFault(result, members);
  if (unknown !== undefined) throw wrong(unknown);
  const { description, messages, _meta } = result;
  if (description !== undefined && typeof description !== "string") throw wrong("a description that is no text");
  if (_meta !== undefined && !isObject(_meta)) throw wrong("_meta that is no object");
  for (const [index, message] of messages.entries()) {
    const fault = messageFault(message);
    if (fault !== undefined) throw wrong(`messages[${index}], which ${fault}`);
  }
  return {
    ...(description === undefined ? {} : { description }),
    messages: knownMessages(messages, revision),
    ...(_meta === undefined ? {} : { _meta }),
  };
}
