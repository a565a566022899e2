import { compileSchema } from "@berth/mcp-server/json-schema";
import { z } from "zod";

const media = z.record(z.string(), z.object({ schema: z.record(z.string(), z.unknown()).optional() }));
const operation = z.object({ responses: z.record(z.string(), z.object({ content: media.optional() })) });
const description = z.object({
  openapi: z.literal("3.1.0"),
  paths: z.record(z.string(), z.record(z.string(), operation)),
});

/** The interface's own description, which answers are held against. */
export interface Described {
  /** Throws when the description does not know such an answer, or the answer is not as it says. */
  check(request: Request, response: Response): Promise<void>;
  /** Operations, and those of them that were answered. */
  readonly operations: readonly string[];
  readonly answered: ReadonlySet<string>;
}

/** `elsewhere`: statuses of what is not described. */
export function readDescription(text: unknown, elsewhere: readonly number[]): Described {
  const { paths } = description.parse(text);
  const answered = new Set<string>();
  const find = (path: string): string | undefined =>
    Object.keys(paths)
      .sort((one, other) => one.split("{").length - other.split("{").length)
      .find((template) => patternOf(template).test(path));
  return {
    operations: Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    ),
    answered,
    async check(request, response) {
      const { pathname } = new URL(request.url);
      const template = find(pathname);
      if (template === undefined) return expectStatus(response, elsewhere);
      const known = paths[template]?.[request.method.toLowerCase()];
      if (known === undefined) return expectStatus(response, [403, 405]);
      const where = `${request.method} ${template} ${response.status}`;
      const answer = known.responses[String(response.status)];
      if (answer === undefined) throw new Error(`${where} is not described`);
      answered.add(`${request.method} ${template}`);
      const type = response.headers.get("content-type")?.split(";")[0];
      if (type === undefined || answer.content === undefined) return;
      const content = answer.content[type];
      if (content === undefined) throw new Error(`${where}: ${type} is not described`);
      for (const value of valuesOf(type, await response.text())) checkValue(where, content.schema ?? {}, value);
    },
  };
}

function checkValue(where: string, schema: Record<string, unknown>, value: unknown): void {
  const result = compileSchema(JSON.parse(JSON.stringify(schema))).validate(value);
  if (!result.valid) throw new Error(`${where}: ${JSON.stringify(result)} of ${JSON.stringify(value).slice(0, 500)}`);
}

function valuesOf(type: string, text: string): readonly unknown[] {
  if (type === "application/json") return [JSON.parse(text)];
  if (type === "application/x-ndjson")
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  if (type !== "text/event-stream") return [];
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, line = ""]) => JSON.parse(line));
}

function patternOf(template: string): RegExp {
  const escaped = template
    .replace(/[.]/g, "\\.")
    .replace(/\{path\}$/, ".+")
    .replace(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${escaped}$`);
}

function expectStatus(response: Response, statuses: readonly number[]): void {
  if (!statuses.includes(response.status)) throw new Error(`${response.status} is not one of ${statuses.join(", ")}`);
}
