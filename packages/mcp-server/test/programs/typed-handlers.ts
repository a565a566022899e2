// What TypeScript knows of handlers. It is compiled, never run: with the tests, and by types.test.ts against the built declarations, as users' programs are.
import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { z } from "zod";
import {
  createMcpServer,
  defineTool,
  type FromJsonSchema,
  type McpServerOptions,
  type PermissionQuestion,
  type PipelineRequest,
  type PlainObject,
  pipelineTool,
  type RequestScope,
  toolsFor,
} from "../../src/index.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only when the two types are the same. */
function same<A, B>(_same: Same<A, B>): void {}

interface User {
  readonly id: string;
}
interface Weather {
  readonly degrees: number;
  readonly sky: string;
}

const about = { description: "a tool", permission: "use" };
const nameSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const dated = z.object({ n: z.number(), day: z.string().transform((text) => new Date(text)) });

// In place: each handler has its own types, without an import of ours but the server.
const inPlace = createMcpServer({
  identity: { name: "types", version: "1.0.0" },
  authorize: ({ principal }: PermissionQuestion<User>) => principal.id === "ada",
  principalId: ({ id }) => id,
  tools: [
    {
      ...about,
      name: "json",
      inputSchema: {
        type: "object",
        properties: { name: { type: "string" }, times: { type: "integer" } },
        required: ["name"],
      },
      handler({ arguments: { name, times }, principal }) {
        same<typeof name, string>(true);
        same<typeof times, number | undefined>(true);
        same<typeof principal, User>(true);
        return `Hello, ${name}!`;
      },
    },
    {
      ...about,
      name: "zod",
      inputSchema: dated,
      async handler({ arguments: { n, day }, requestInput }) {
        same<typeof n, number>(true);
        same<typeof day, Date>(true);
        const { roots } = await requestInput({ roots: { method: "roots/list" } });
        same<(typeof roots)["roots"][0]["uri"], string>(true);
        return { content: [{ type: "text", text: day.toISOString() }] };
      },
    },
    {
      ...about,
      name: "any",
      inputSchema: { type: "object" },
      handler: ({ arguments: given }) => {
        same<typeof given, JsonObject>(true);
        return "";
      },
    },
  ],
});
void inPlace;

// With the principal's type given, those in place have JSON arguments; defineTool's have their own.
const tool = toolsFor<User>();
export const given: McpServerOptions<User> = {
  identity: { name: "types", version: "1.0.0" },
  principalId: ({ id }) => id,
  tools: [
    {
      ...about,
      name: "json",
      inputSchema: nameSchema,
      handler: ({ arguments: all }) => {
        same<typeof all, JsonObject>(true);
        return "";
      },
    },
    tool({
      ...about,
      name: "typed",
      inputSchema: dated,
      handler: ({ arguments: { day }, principal }) => {
        same<typeof day, Date>(true);
        same<typeof principal, User>(true);
        return "";
      },
    }),
    defineTool<User, typeof nameSchema>({
      ...about,
      name: "both",
      inputSchema: nameSchema,
      handler: ({ arguments: { name } }) => name,
    }),
  ],
};
createMcpServer<User>(given);
createMcpServer(given);

// Lists are put together as one likes.
const many = [tool({ ...about, name: "one", inputSchema: dated, handler: () => "" })];
createMcpServer<User>({
  identity: { name: "types", version: "1.0.0" },
  principalId: ({ id }) => id,
  tools: [
    ...many,
    tool({ ...about, name: "two", inputSchema: nameSchema, handler: ({ principal }) => principal.id }),
    { ...about, name: "three", inputSchema: nameSchema, handler: ({ principal }) => principal.id },
  ],
});
createMcpServer({
  identity: { name: "types", version: "1.0.0" },
  authorize({ principal }) {
    same<typeof principal, string>(true);
    return true;
  },
});
// @ts-expect-error users are told apart by nobody
createMcpServer<User>({ identity: { name: "types", version: "1.0.0" } });
const pipeline = pipelineTool({
  ...about,
  name: "pipeline",
  inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  executor: {
    execute({ payload: { n }, identity }: PipelineRequest<User, { readonly n: number }>): Weather {
      return { degrees: n, sky: identity.id };
    },
  },
});
createMcpServer<User>({ ...given, tools: [pipeline] });

// Structured results are what the output schema takes.
const weather = {
  type: "object",
  properties: { degrees: { type: "number" }, sky: { enum: ["clear", "grey"] } },
  required: ["degrees"],
} as const;
const named = { ...about, name: "weather", inputSchema: nameSchema };
const zodWeather = z.object({ degrees: z.number() });
const now: Weather = { degrees: 21, sky: "clear" };
tool({ ...named, outputSchema: weather, handler: () => ({ structuredContent: { degrees: 21, sky: "grey" } }) });
tool({ ...named, outputSchema: weather, handler: (_) => ({ structuredContent: { degrees: 21, sky: "grey" } }) });
tool({ ...named, outputSchema: weather, handler: () => ({ isError: true, content: [] }) });
tool({ ...named, outputSchema: { type: "object" }, handler: () => ({ structuredContent: now }) });
tool({ ...named, outputSchema: zodWeather, handler: async () => ({ structuredContent: now }) });
tool({ ...named, handler: () => ({ structuredContent: [now, now] }) });
// @ts-expect-error a member has another type
tool({ ...named, outputSchema: weather, handler: () => ({ structuredContent: { degrees: "21" } }) });
// @ts-expect-error a required member is missing
tool({ ...named, outputSchema: weather, handler: () => ({ structuredContent: {} }) });
// @ts-expect-error there is no structured result
tool({ ...named, outputSchema: weather, handler: () => "21 degrees" });
// @ts-expect-error zod wants a number
tool({ ...named, outputSchema: zodWeather, handler: () => ({ structuredContent: { degrees: "21" } }) });
// @ts-expect-error a date is no JSON
tool({ ...named, handler: () => ({ structuredContent: new Date() }) });
// @ts-expect-error nor is a map
tool({ ...named, handler: () => ({ structuredContent: new Map() }) });
// @ts-expect-error a result has no such member
tool({ ...named, handler: () => ({ result: 5 }) });

// Questions are answered under their keys, with the form's own type.
export async function ask({ requestInput, log }: RequestScope<User>, params: PlainObject): Promise<void> {
  log("info", now);
  const requestedSchema = { type: "object", properties: { yes: { type: "boolean" } }, required: ["yes"] } as const;
  const { sure, model, form } = await requestInput({
    sure: { method: "elicitation/create", params: { message: "Sure?", requestedSchema } },
    model: { method: "sampling/createMessage", params: { messages: [], maxTokens: 10 } },
    form: { method: "elicitation/create", params },
  });
  if (sure.action === "accept") same<typeof sure.content, { readonly yes: boolean }>(true);
  if (form.action === "accept") same<typeof form.content, JsonObject>(true);
  same<typeof model.role, string>(true);
  // @ts-expect-error there is no such question
  await requestInput({ x: { method: "elicit", params: {} } });
  // @ts-expect-error a question needs its parameters
  await requestInput({ x: { method: "elicitation/create" } });
}

// What a JSON Schema says, and where it says nothing.
type Of<S> = FromJsonSchema<S>;
same<Of<{ type: "array"; items: { type: "integer" } }>, readonly number[]>(true);
same<Of<{ type: ["string", "null"] }>, string | null>(true);
same<Of<{ enum: ["a", 1] }>, "a" | 1>(true);
same<Of<{ const: true }>, true>(true);
same<Of<{ type: "object"; additionalProperties: { type: "number" } }>, Readonly<Record<string, number>>>(true);
same<Of<{ type: "object"; additionalProperties: false }>, Readonly<Record<string, never>>>(true);
same<
  Of<{ type: "object"; properties: { a: { type: "object"; properties: { b: { const: 1 } } } } }>,
  { readonly a?: { readonly b?: 1 } }
>(true);
same<Of<{ $ref: "#/$defs/a" }>, JsonValue>(true);
same<Of<{ type: string; properties: { a: { type: string } } }>, JsonValue>(true);
type Endless = { type: "object"; properties: { next: Endless }; required: ["next"] };
type SixDown = Of<Endless>["next"]["next"]["next"]["next"]["next"]["next"];
same<SixDown, JsonValue>(true);
