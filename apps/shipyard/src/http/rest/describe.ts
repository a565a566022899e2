import type { z } from "zod";
import type { BodyDescription, ParameterDescription } from "./route.js";
import { refusal } from "./schemas.js";

/** Short forms for the tables of routes. */
export function json(description: string, schema: z.ZodType): BodyDescription {
  return { description, content: { "application/json": schema } };
}

export function refused(description: string): BodyDescription {
  return json(description, refusal);
}

export const bytes: BodyDescription = { description: "Bytes", content: { "application/octet-stream": undefined } };

export const idempotencyKey: ParameterDescription = {
  in: "header",
  name: "Idempotency-Key",
  description: "1 to 200 characters; the same call with the same key runs once, and gets the first outcome",
};

/** What any route of a session may answer. */
export const sessionRefusals: Readonly<Record<number, BodyDescription>> = {
  400: refused("Something given is not as it has to be"),
  404: refused("You have no such session"),
  410: refused("It has ended; `end` says how"),
};
