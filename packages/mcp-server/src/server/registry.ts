import type { JsonObject } from "@berth/jsonrpc-framing";
import { RegistrationError, type RegistrationProblem } from "../errors.js";
import { isObject } from "../json.js";
import type { SchemaCompiler } from "../json-schema/index.js";
import { legacyRevisions, modernRevisions, type ProtocolRevision } from "../revisions.js";
import { readTaskLimits, type TaskBounds } from "../tasks/limits.js";
import { type BoundTask, readToolTask } from "../tasks/settings.js";
import type {
  PromptDefinition,
  Registration,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from "./definitions.js";
import { headerFaults } from "./header-annotations.js";
import { type HeaderArgument, headerArgumentsOf } from "./header-arguments.js";
import { readLimits, type ServerLimits } from "./limits.js";
import type { Listed } from "./list.js";
import type { McpServerOptions } from "./options.js";
import { renderPrompt, renderResource, renderTemplate, renderTool } from "./render.js";
import { type BoundSchema, bindSchema, type SchemaSource } from "./schema-source.js";
import { readUriPattern, type UriPattern } from "./uri-pattern.js";

/** A tool as it runs. */
export interface BoundTool<P> extends Listed {
  readonly definition: ToolDefinition<P>;
  readonly input: BoundSchema;
  readonly headerArguments: readonly HeaderArgument[];
  readonly output: BoundSchema | undefined;
  readonly task: BoundTask | undefined;
}
export interface BoundPrompt<P> extends Listed {
  readonly definition: PromptDefinition<P>;
}
export interface BoundResource<P> extends Listed {
  readonly definition: ResourceDefinition<P>;
}
export interface BoundTemplate<P> extends Listed {
  readonly definition: ResourceTemplateDefinition<P>;
  readonly pattern: UriPattern;
}

/** Everything that was registered, checked and never changed again. */
export interface Registry<P> {
  readonly tools: ReadonlyMap<string, BoundTool<P>>;
  readonly prompts: ReadonlyMap<string, BoundPrompt<P>>;
  readonly resources: ReadonlyMap<string, BoundResource<P>>;
  readonly templates: ReadonlyMap<string, BoundTemplate<P>>;
  readonly limits: ServerLimits;
  readonly taskBounds: TaskBounds;
}

type Fault = (where: string, message: string) => void;

/** @throws {RegistrationError} with all that is wrong. */
export function readRegistry<P>(options: McpServerOptions<P>, compiler: SchemaCompiler): Registry<P> {
  const problems: RegistrationProblem[] = [];
  const fault: Fault = (where, message) => void problems.push({ where, message });
  checkGeneral(options, fault);
  const taskBounds = readTaskLimits(options.tasks?.limits, (message) => fault("tasks.limits", message));
  const registry: Registry<P> = {
    tools: collect(
      "tools",
      options.tools,
      ({ name }) => name,
      fault,
      (tool, say) => bindTool(tool, compiler, taskBounds, say),
    ),
    prompts: collect("prompts", options.prompts, ({ name }) => name, fault, bindPrompt),
    resources: collect("resources", options.resources, ({ uri }) => uri, fault, bindResource),
    templates: collect("resourceTemplates", options.resourceTemplates, (t) => t.uriTemplate, fault, bindTemplate),
    limits: readLimits(options.limits, (message) => fault("limits", message)),
    taskBounds,
  };
  if (problems.length > 0) throw new RegistrationError(problems);
  return registry;
}

function checkGeneral<P>({ identity, revisions, cacheHints, requestState }: McpServerOptions<P>, fault: Fault): void {
  for (const name of ["name", "version"] as const) {
    if (typeof identity?.[name] !== "string" || identity[name] === "") fault("identity", `${name} is missing`);
  }
  const known: readonly ProtocolRevision[] = [...legacyRevisions, ...modernRevisions];
  const served: readonly ProtocolRevision[] = revisions ? [...revisions.legacy, ...revisions.modern] : known;
  if (served.length === 0) fault("revisions", "none is served");
  for (const name of served) if (!known.includes(name)) fault("revisions", `${name} is not known`);
  if (cacheHints !== undefined && !(Number.isSafeInteger(cacheHints.ttlMs) && cacheHints.ttlMs >= 0)) {
    fault("cacheHints", `ttlMs is ${cacheHints.ttlMs}; it has to be a whole number of milliseconds`);
  }
  for (const key of requestState?.keys ?? []) {
    if (key.length < 32) fault("requestState", `a key has ${key.length} bytes; at least 32 are needed`);
  }
}

/** Binds what can be bound; names are checked here, once for all kinds. */
function collect<D extends Registration, B>(
  kind: string,
  definitions: readonly D[] | undefined,
  nameOf: (definition: D) => string,
  fault: Fault,
  bind: (definition: D, say: (message: string) => void) => B | undefined,
): ReadonlyMap<string, B> {
  const bound = new Map<string, B>();
  const seen = new Set<string>();
  for (const [index, definition] of (definitions ?? []).entries()) {
    const name = nameOf(definition);
    const say = (message: string): void => fault(`${kind}[${index}] ${JSON.stringify(name)}`, message);
    if (typeof name !== "string" || name === "") say("has no name");
    if (seen.has(name)) say("is registered twice");
    seen.add(name);
    if (typeof definition.permission !== "string" || definition.permission === "") say("names no permission");
    for (const icon of definition.icons ?? []) {
      if (!/^(https:|data:)/.test(icon.src)) say(`icon ${icon.src.slice(0, 80)} is neither https: nor data:`);
    }
    const made = bind(definition, say);
    if (made !== undefined) bound.set(name, made);
  }
  return bound;
}

function bindTool<P>(
  definition: ToolDefinition<P>,
  compiler: SchemaCompiler,
  taskBounds: TaskBounds,
  say: (message: string) => void,
): BoundTool<P> | undefined {
  const { name, permission, outputSchema } = definition;
  if (!/^[\w.-]{1,128}$/.test(name)) say("a tool's name is 1 to 128 of A-Z a-z 0-9 _ - .");
  if (typeof definition.description !== "string" || definition.description === "") say("has no description");
  if (typeof definition.handler !== "function") say("has no handler");
  const input = tryBind("inputSchema", definition.inputSchema, compiler, say);
  const output = outputSchema === undefined ? undefined : tryBind("outputSchema", outputSchema, compiler, say);
  if (input === undefined) return undefined;
  if (input.json["type"] !== "object") say('inputSchema needs "type": "object" at its root');
  for (const message of headerFaults(input.json)) say(message);
  const shown = { ...definition, input: input.json, output: output?.json };
  const headerArguments = headerArgumentsOf(input.json);
  return {
    name,
    permission,
    definition,
    input,
    headerArguments,
    task: readToolTask(definition.task, taskBounds, say),
    output,
    render: (revision) => renderTool(shown, revision),
  };
}

function tryBind(
  member: string,
  source: SchemaSource,
  compiler: SchemaCompiler,
  say: (message: string) => void,
): BoundSchema | undefined {
  if (!isObject(source) && typeof source !== "function") {
    say(`${member} is not a schema`);
    return undefined;
  }
  try {
    return bindSchema(source, compiler);
  } catch (error) {
    say(`${member}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function bindPrompt<P>(definition: PromptDefinition<P>, say: (message: string) => void): BoundPrompt<P> {
  const { name, permission } = definition;
  if (typeof definition.handler !== "function") say("has no handler");
  const names = (definition.arguments ?? []).map((argument) => argument.name);
  if (new Set(names).size < names.length) say("an argument is named twice");
  return { name, permission, definition, render: (revision) => renderPrompt(definition, revision) };
}

function bindResource<P>(definition: ResourceDefinition<P>, say: (message: string) => void): BoundResource<P> {
  const { uri, permission } = definition;
  if (typeof definition.read !== "function") say("has no read function");
  if (!URL.canParse(uri)) say("the address is not absolute");
  return { name: uri, permission, definition, render: (revision) => renderResource(definition, revision) };
}

function bindTemplate<P>(
  definition: ResourceTemplateDefinition<P>,
  say: (message: string) => void,
): BoundTemplate<P> | undefined {
  const { uriTemplate, permission, complete } = definition;
  if (typeof definition.read !== "function") say("has no read function");
  try {
    const pattern = readUriPattern(uriTemplate);
    for (const name of Object.keys(complete ?? {})) {
      if (!pattern.variables.includes(name)) say(`completes {${name}}, which is not in the template`);
    }
    const render = (revision: ProtocolRevision): JsonObject => renderTemplate(definition, revision);
    return { name: uriTemplate, permission, definition, pattern, render };
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
