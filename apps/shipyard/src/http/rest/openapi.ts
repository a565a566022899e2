import { z } from "zod";
import type { BodyDescription, Route } from "./route.js";

/** A value of a JSON document. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The OpenAPI 3.1 description of routes, made of the schemas that they are checked by. */
export function describeRoutes(routes: readonly Route[], version: string): string {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    Object.assign(paths[route.path] ?? {}, { [route.method.toLowerCase()]: operation(route) });
  }
  const text = JSON.stringify({
    openapi: "3.1.0",
    info: {
      title: "berth-shipyard",
      version,
      description: "Python in sandboxes. The same is served as MCP at /mcp.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    security: [{ bearer: [] }, {}],
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    paths,
  });
  return text;
}

/** Answers that any route may give. */
const everywhere: Readonly<Record<number, string>> = {
  401: "No token, or none that is good; only with authentication",
  403: "This Host or Origin is not served, or it is not for you",
  500: "A fault of the server",
  503: "Too much is under way",
};
const errorSchema = z.object({ error: z.string(), code: z.string().optional() });

function operation({ summary, access, parameters = [], path, body, answers }: Route): Json {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    in: "path",
    name,
    required: true,
    schema: { type: "string" },
  }));
  const others = parameters.map(({ in: place, name, description, required = false }) => ({
    in: place,
    name,
    description,
    required,
    schema: { type: "string" },
  }));
  const common = Object.entries(everywhere).map(([status, description]): [string, Json] => [
    status,
    { description, content: { "application/json": { schema: schemaOf(errorSchema) } } },
  ]);
  const own = Object.entries(answers).map(([status, answer]): [string, Json] => [status, described(answer)]);
  return {
    summary,
    ...(access === "public" ? { security: [] } : {}),
    parameters: [...inPath, ...others],
    ...(body === undefined ? {} : { requestBody: { required: body.required, ...described(body) } }),
    responses: Object.fromEntries([...common, ...own]),
  };
}

function described({ description, content }: BodyDescription): { readonly [name: string]: Json } {
  if (content === undefined) return { description };
  const media = Object.entries(content).map(([type, schema]): [string, Json] => [
    type,
    schema === undefined ? {} : { schema: schemaOf(schema) },
  ]);
  return { description, content: Object.fromEntries(media) };
}

function schemaOf(schema: z.ZodType): Json {
  // Through text: what zod gives has the types of its own.
  const { $schema: _, ...rest } = JSON.parse(
    JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })),
  );
  return rest;
}
