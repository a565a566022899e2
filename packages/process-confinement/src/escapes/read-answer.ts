import type { EscapeAnswer } from "./escapes.js";

/** What an attempt said, as far as it is well-formed: it comes from inside. */
export interface Said {
  readonly control: { readonly held: boolean; readonly name: string } | undefined;
  readonly answer: EscapeAnswer | undefined;
}

/** Adds a message of the attempt to what it said before. Pure. */
export function hear(said: Said, message: object): Said {
  const control = "control" in message ? readControl(message.control) : undefined;
  const answer = "result" in message ? readAnswer(message.result) : undefined;
  return { control: said.control ?? control, answer: said.answer ?? answer };
}

function readControl(value: unknown): Said["control"] {
  if (typeof value !== "object" || value === null || !("held" in value)) return undefined;
  return { held: value.held === true, name: ("name" in value ? word(value.name) : undefined) ?? "" };
}

function readAnswer(value: unknown): EscapeAnswer | undefined {
  if (typeof value !== "object" || value === null || !("outcome" in value)) return undefined;
  const { outcome } = value;
  if (outcome !== "refused" && outcome !== "succeeded") return undefined;
  return {
    outcome,
    errno: "errno" in value ? integer(value.errno) : undefined,
    name: "name" in value ? word(value.name) : undefined,
    bytes: "bytes" in value ? integer(value.bytes) : undefined,
    sha256: "sha256" in value ? digest(value.sha256) : undefined,
  };
}

function integer(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function word(value: unknown): string | undefined {
  return typeof value === "string" && /^[\w .,;-]{1,80}$/.test(value) ? value : undefined;
}

function digest(value: unknown): string | undefined {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value) ? value : undefined;
}
