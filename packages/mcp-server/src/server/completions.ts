import { type JsonObject, type JsonValue, wireErrors } from "@berth/jsonrpc-framing";
import { ResultError, RpcError } from "../errors.js";
import { isObject } from "../json.js";
import { isAllowed } from "./authorize.js";
import type { RequestContext } from "./context.js";
import { type Core, complete, type Reply } from "./core.js";
import type { Completer } from "./definitions.js";
import { legacyResult, type Relay, relayOnce } from "./relayed-rounds.js";

/** MCP 2025-11-25, Completion: at most so many values in an answer. */
const maxValues = 100;

/** `completion/complete`. */
export async function completeArgument<P>(core: Core<P>, context: RequestContext<P>): Promise<Reply> {
  const { ref, argument } = context.params;
  if (!isObject(ref) || !isObject(argument)) throw invalid("completion/complete needs ref and argument");
  const { name, value } = argument;
  if (typeof name !== "string" || typeof value !== "string") throw invalid("argument needs name and value, strings");
  const completer = await findCompleter(core, context, ref, name);
  if (completer !== undefined && "relay" in completer) {
    const result = await relayOnce(core, context, "what is completed", completer.relay);
    return complete(core, context, context.era === "modern" ? result : legacyResult(result));
  }
  const { principal, signal } = context;
  const call = { value, chosen: chosen(context.params["context"]), principal, signal };
  const values: unknown = completer === undefined ? [] : await completer(call);
  if (!isTexts(values)) {
    throw new ResultError(`the completer of "${name}" of "${context.name ?? ""}" returned what is no list of texts`);
  }
  const completion = { values: values.slice(0, maxValues), total: values.length, hasMore: values.length > maxValues };
  return complete(core, context, { completion });
}

function isTexts(values: unknown): values is readonly string[] {
  return Array.isArray(values) && values.every((one) => typeof one === "string");
}

async function findCompleter<P>(
  { registry, options: { authorize } }: Core<P>,
  context: RequestContext<P>,
  ref: JsonObject,
  argument: string,
): Promise<Completer<P> | { readonly relay: Relay<P> } | undefined> {
  const { type, name, uri } = ref;
  if (type === "ref/prompt" && typeof name === "string") {
    context.name = name;
    const prompt = registry.prompts.get(name) ?? registry.relayed.prompts.get(name);
    if (prompt === undefined || !(await isAllowed(authorize, context, "prompt", prompt))) {
      throw invalid(`Unknown prompt: ${name.slice(0, 128)}`);
    }
    if ("relay" in prompt) return relayed(prompt);
    const found = prompt.definition.arguments?.find((candidate) => candidate.name === argument);
    if (found === undefined) throw invalid("the prompt has no such argument");
    return found.complete;
  }
  if (type !== "ref/resource" || typeof uri !== "string") throw invalid("ref is of no known type");
  context.name = uri;
  const template = registry.templates.get(uri) ?? registry.relayed.templates.get(uri);
  if (template === undefined || !(await isAllowed(authorize, context, "resourceTemplate", template))) {
    throw invalid("Unknown resource template");
  }
  if ("relay" in template) return relayed(template);
  if (!template.pattern.variables.includes(argument)) throw invalid("the template has no such variable");
  return template.definition.complete?.[argument];
}

/** Which arguments there are is the other server's to say. */
function relayed<P>({
  complete,
}: {
  readonly complete: Relay<P> | undefined;
}): { readonly relay: Relay<P> } | undefined {
  return complete && { relay: complete };
}

function chosen(context: JsonValue | undefined): Readonly<Record<string, string>> {
  const given = isObject(context) ? context["arguments"] : undefined;
  const values: [string, string][] = [];
  for (const [name, value] of Object.entries(isObject(given) ? given : {})) {
    if (typeof value === "string") values.push([name, value]);
  }
  return Object.fromEntries(values);
}

function invalid(message: string): RpcError {
  return new RpcError(wireErrors.invalidParams, message);
}
