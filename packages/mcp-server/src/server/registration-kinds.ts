import {
  aFlag,
  aFunction,
  anObject,
  aText,
  checkOptions,
  kind,
  type OptionKind,
  type OptionKinds,
  optional,
  textsOf,
} from "../option-check.js";
import type { Icon } from "./content.js";
import type {
  PromptArgument,
  PromptDefinition,
  Registration,
  ResourceAnnotations,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolAnnotations,
  ToolDefinition,
} from "./definitions.js";

type Say = (message: string) => void;

/** A text that may be empty, or absent. */
export const someText: OptionKind = optional(kind("a text", (value) => typeof value === "string"));
/** A list, or nothing; what is in it is checked by itself. */
export const someList: OptionKind = optional(kind("a list", Array.isArray));
/** What has a check and a text of its own: here only its name is known. */
const checkedElsewhere = optional(kind("a value", () => true));
const flag = optional(aFlag);

const common = {
  title: someText,
  description: someText,
  icons: someList,
  permission: checkedElsewhere,
  _meta: optional(anObject),
} as const satisfies OptionKinds<Registration>;

/** What a tool may say. */
export const toolKinds: OptionKinds<ToolDefinition<unknown>> = {
  name: checkedElsewhere,
  ...common,
  description: checkedElsewhere,
  inputSchema: checkedElsewhere,
  outputSchema: checkedElsewhere,
  annotations: checkedElsewhere,
  task: checkedElsewhere,
  handler: checkedElsewhere,
};

/** What a prompt may say. */
export const promptKinds: OptionKinds<PromptDefinition<unknown>> = {
  name: checkedElsewhere,
  ...common,
  arguments: someList,
  handler: checkedElsewhere,
};

/** What a resource may say. */
export const resourceKinds: OptionKinds<ResourceDefinition<unknown>> = {
  uri: checkedElsewhere,
  ...common,
  name: aText,
  mimeType: someText,
  size: optional(kind("a whole number of bytes", (value) => Number.isSafeInteger(value) && Number(value) >= 0)),
  annotations: checkedElsewhere,
  read: checkedElsewhere,
};

/** What a resource template may say. */
export const templateKinds: OptionKinds<ResourceTemplateDefinition<unknown>> = {
  uriTemplate: checkedElsewhere,
  ...common,
  name: aText,
  mimeType: someText,
  annotations: checkedElsewhere,
  complete: optional(
    kind("an object of functions", (value) => {
      return anObject.fits(value) && Object.values(Object(value)).every(aFunction.fits);
    }),
  ),
  read: checkedElsewhere,
};

/** What a tool's annotations may say. */
export const toolAnnotationKinds: OptionKinds<ToolAnnotations> = {
  title: someText,
  readOnlyHint: flag,
  destructiveHint: flag,
  idempotentHint: flag,
  openWorldHint: flag,
};

// Clients read it so strictly that they would refuse the whole list (MCP 2025-11-25, Schema § Annotations).
const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;
const isAudience = (value: unknown): boolean => value === "user" || value === "assistant";

/** What a resource's annotations may say. */
export const resourceAnnotationKinds: OptionKinds<ResourceAnnotations> = {
  audience: optional(
    kind('a list of "user" and "assistant"', (value) => Array.isArray(value) && value.every(isAudience)),
  ),
  priority: optional(kind("a number from 0 to 1", (value) => typeof value === "number" && value >= 0 && value <= 1)),
  lastModified: optional(
    kind("a time such as 2026-01-31T12:00:00Z", (value) => {
      return typeof value === "string" && isoTime.test(value) && !Number.isNaN(Date.parse(value));
    }),
  ),
};

const iconKinds = {
  src: kind("an address with https: or data:", (value) => typeof value === "string" && /^(https:|data:)/.test(value)),
  mimeType: someText,
  sizes: optional(textsOf("sizes, such as 48x48")),
  theme: optional(kind('"light" or "dark"', (value) => value === "light" || value === "dark")),
} as const satisfies OptionKinds<Icon>;

const argumentKinds = {
  name: aText,
  title: someText,
  description: someText,
  required: flag,
  complete: optional(aFunction),
} as const satisfies OptionKinds<PromptArgument<unknown>>;

/** The icons of a registration, or of the server. */
export function checkIcons(icons: unknown, say: Say): void {
  checkEach(icons, iconKinds, "icons", say);
}

/** The arguments of a prompt. */
export function checkPromptArguments(given: unknown, say: Say): void {
  checkEach(given, argumentKinds, "arguments", say);
}

/** What is no list is told by whoever checked the member itself. */
function checkEach(list: unknown, kinds: Readonly<Record<string, OptionKind>>, name: string, say: Say): void {
  if (!Array.isArray(list)) return;
  for (const [index, one] of list.entries()) checkOptions(one, kinds, { of: `${name}[${index}]`, fault: say });
}

/** The annotations of a tool or a resource, where there are any. */
export function checkAnnotations(given: unknown, kinds: Readonly<Record<string, OptionKind>>, say: Say): void {
  if (given !== undefined) checkOptions(given, kinds, { of: "annotations", fault: say });
}
