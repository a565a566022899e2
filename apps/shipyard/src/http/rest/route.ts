import { type BodyReader, BodyRefusal } from "@berth/command-line/http";
import type { z } from "zod";

/** One request, as a route's handler gets it. */
export interface RouteCall {
  readonly request: Request;
  readonly owner: string;
  readonly isOperator: boolean;
  /** From the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** What a body may be, in the description. */
export interface BodyDescription {
  readonly description: string;
  /** By media type; undefined: bytes or text without a schema. */
  readonly content?: Readonly<Record<string, z.ZodType | undefined>> | undefined;
}

/** One parameter in the description. */
export interface ParameterDescription {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly description: string;
  readonly required?: boolean | undefined;
}

/** One operation: what the description says of it, and what it does. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With `{name}`; `{path}` at the end takes the rest, slashes included. */
  readonly path: string;
  readonly summary: string;
  /** `public`: no authentication. `operator`: figures of all owners. Default: whoever was admitted. */
  readonly access?: "public" | "operator" | undefined;
  readonly parameters?: readonly ParameterDescription[] | undefined;
  readonly body?: (BodyDescription & { readonly required: boolean }) | undefined;
  readonly answers: Readonly<Record<number, BodyDescription>>;
  handle(call: RouteCall): Promise<Response> | Response;
}

/** A JSON answer. Members that are undefined are left out. */
export function answer<T>(status: number, body: T, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

/**
 * A JSON body of a newer route.
 * @throws {BodyRefusal} 413, 415, or 400 for what is no JSON or not of this form, naming each member at fault.
 */
export async function bodyOf<T>(
  bodies: BodyReader,
  { request, owner }: Pick<RouteCall, "request" | "owner">,
  schema: z.ZodType<T>,
): Promise<T> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  // A page can send other types to any server without asking it first (Fetch § CORS-safelisted request-header).
  if (type !== "application/json") throw new BodyRefusal(415, "the body has to be application/json");
  return check(await bodies.json(request, owner), schema);
}

/** @throws {BodyRefusal} 400. */
export function check<T>(value: unknown, schema: z.ZodType<T>): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const problems = read.error.issues
    .slice(0, 8)
    .map(({ path, message }) => `${path.join(".") || "the body"}: ${message}`);
  throw new BodyRefusal(400, problems.join("; ").slice(0, 1_000));
}
