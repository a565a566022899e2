import type { JsonObject } from "@berth/jsonrpc-framing";
import { RegistrationError, type RegistrationProblem } from "../errors.js";
import { isObject } from "../json.js";
import type { SchemaCompiler } from "../json-schema/index.js";
import type { ProtocolRevision } from "../revisions.js";
import { readTaskLimits, type TaskBounds } from "../tasks/limits.js";
import { type BoundTask, readToolTask } from "../tasks/settings.js";
import { collect, type Fault, type Say } from "./collect.js";
import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from "./definitions.js";
import { headerFaults } from "./header-annotations.js";
import { type HeaderArgument, headerArgumentsOf } from "./header-arguments.js";
import { readLimits, type ServerLimits } from "./limits.js";
import type { Listed } from "./list.js";
import type { McpServerOptions } from "./options.js";
import {
  checkAnnotations,
  checkPromptArguments,
  promptKinds,
  resourceAnnotationKinds,
  resourceKinds,
  templateKinds,
  toolAnnotationKinds,
  toolKinds,
} from "./registration-kinds.js";
import { collectRelayed, type RelayedRegistry } from "./registry-relayed.js";
import { renderPrompt, renderResource, renderTemplate, renderTool } from "./render.js";
import { type BoundSchema, bindSchema, type SchemaSource } from "./schema-source.js";
import { checkSettings } from "./settings-check.js";
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
  readonly relayed: RelayedRegistry<P>;
  readonly limits: ServerLimits;
  readonly taskBounds: TaskBounds;
}

/** @throws {RegistrationError} with all that is wrong. */
export function readRegistry<P>(options: McpServerOptions<P>, compiler: SchemaCompiler): Registry<P> {
  const problems: RegistrationProblem[] = [];
  const fault: Fault = (where, message) => void problems.push({ where, message });
  if (!checkSettings(options, fault)) throw new RegistrationError(problems);
  const taskBounds = readTaskLimits(options.tasks?.limits, (message) => fault("tasks.limits", message));
  const own = {
    tools: collect(options.tools, fault, {
      member: "tools",
      key: "name",
      kinds: toolKinds,
      nameOf: ({ name }) => name,
      bind: (tool, say) => bindTool(tool, compiler, taskBounds, say),
    }),
    prompts: collect(options.prompts, fault, {
      member: "prompts",
      key: "name",
      kinds: promptKinds,
      nameOf: ({ name }) => name,
      bind: bindPrompt,
    }),
    resources: collect(options.resources, fault, {
      member: "resources",
      key: "uri",
      kinds: resourceKinds,
      nameOf: ({ uri }) => uri,
      bind: bindResource,
    }),
    templates: collect(options.resourceTemplates, fault, {
      member: "resourceTemplates",
      key: "uriTemplate",
      kinds: templateKinds,
      nameOf: ({ uriTemplate }) => uriTemplate,
      bind: bindTemplate,
    }),
  };
  const registry: Registry<P> = {
    ...own,
    relayed: collectRelayed(options, own, fault),
    limits: readLimits(options.limits, (message) => fault("limits", message)),
    taskBounds,
  };
  if (problems.length > 0) throw new RegistrationError(problems);
  return registry;
}

/** Whether there is anything that somebody could be allowed. */
export function hasRegistrations<P>(registry: Registry<P>): boolean {
  return hasTools(registry) || hasPrompts(registry) || hasResources(registry);
}

export function hasTools<P>({ tools, relayed }: Registry<P>): boolean {
  return tools.size + relayed.tools.size > 0;
}

export function hasPrompts<P>({ prompts, relayed }: Registry<P>): boolean {
  return prompts.size + relayed.prompts.size > 0;
}

export function hasResources<P>(registry: Registry<P>): boolean {
  const { resources, templates, addresses } = registry.relayed;
  return hasOwnResources(registry) || resources.size + templates.size > 0 || addresses !== undefined;
}

/** Those that clients can subscribe to. */
export function hasOwnResources<P>({ resources, templates }: Registry<P>): boolean {
  return resources.size + templates.size > 0;
}

function bindTool<P>(
  definition: ToolDefinition<P>,
  compiler: SchemaCompiler,
  taskBounds: TaskBounds,
  say: Say,
): BoundTool<P> | undefined {
  const { name, permission, outputSchema } = definition;
  if (!/^[\w.-]{1,128}$/.test(name)) say("a tool's name is 1 to 128 of A-Z a-z 0-9 _ - .");
  if (typeof definition.description !== "string" || definition.description === "") say("has no description");
  if (typeof definition.handler !== "function") say("has no handler");
  checkAnnotations(definition.annotations, toolAnnotationKinds, say);
  const input = tryBind("input", definition.inputSchema, compiler, say);
  const output = outputSchema === undefined ? undefined : tryBind("output", outputSchema, compiler, say);
  const task = readToolTask(definition.task, taskBounds, say);
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
    task,
    output,
    render: (revision) => renderTool(shown, revision),
  };
}

function tryBind(
  side: "input" | "output",
  source: SchemaSource,
  compiler: SchemaCompiler,
  say: Say,
): BoundSchema | undefined {
  if (!isObject(source) && typeof source !== "function") {
    say(`${side}Schema is not a schema`);
    return undefined;
  }
  try {
    return bindSchema(source, compiler, side);
  } catch (error) {
    say(`${side}Schema: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function bindPrompt<P>(definition: PromptDefinition<P>, say: Say): BoundPrompt<P> {
  const { name, permission } = definition;
  if (typeof definition.handler !== "function") say("has no handler");
  checkPromptArguments(definition.arguments, say);
  const named = Array.isArray(definition.arguments) ? definition.arguments : [];
  const names = named.map((argument) => argument?.name);
  if (new Set(names).size < names.length) say("an argument is named twice");
  return { name, permission, definition, render: (revision) => renderPrompt(definition, revision) };
}

function bindResource<P>(definition: ResourceDefinition<P>, say: Say): BoundResource<P> {
  const { uri, permission } = definition;
  if (typeof definition.read !== "function") say("has no read function");
  checkAnnotations(definition.annotations, resourceAnnotationKinds, say);
  if (!URL.canParse(uri)) say("the address is not absolute");
  return { name: uri, permission, definition, render: (revision) => renderResource(definition, revision) };
}

function bindTemplate<P>(definition: ResourceTemplateDefinition<P>, say: Say): BoundTemplate<P> | undefined {
  const { uriTemplate, permission, complete } = definition;
  if (typeof definition.read !== "function") say("has no read function");
  checkAnnotations(definition.annotations, resourceAnnotationKinds, say);
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
