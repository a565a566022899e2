import type { ImportNote } from "./report.js";

/** Names whose values are probably secrets. */
const secretName = /token|secret|passw|passphrase|credential|api_?key|access_?key|private_?key|_key$|_auth$|_pat$/iu;

/** `env` of a client's entry in the catalog's terms, values kept. Values that are not texts are left for the reader to refuse. */
export function readEntryEnvironment(value: unknown, notes: ImportNote[]): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const variables: Record<string, unknown> = Object.create(null);
  for (const [name, text] of Object.entries(value)) variables[name] = readValue(name, text, notes);
  return variables;
}

function readValue(name: string, value: unknown, notes: ImportNote[]): unknown {
  if (typeof value === "number" || typeof value === "boolean") {
    notes.push({ code: "VALUE_CHANGED", message: `env.${name} is written as a text` });
    return String(value);
  }
  if (typeof value !== "string") return value;
  const reference = tryReadPlaceholder(name, value, notes);
  if (reference !== undefined) return reference;
  if (value !== "" && secretName.test(name)) {
    notes.push({
      code: "LITERAL_SECRET",
      message: `env.${name} is kept in the catalog as plain text: write "env:${name}" or "file:PATH" instead`,
    });
  }
  // A client's `file:./dev.db` is a text, not a reference.
  return /^(?:env|file|literal):/u.test(value) ? `literal:${value}` : value;
}

/** `${NAME}`, `${env:NAME}` and `${input:ID}`, when they are the whole value. */
function tryReadPlaceholder(name: string, value: string, notes: ImportNote[]): string | undefined {
  const variable = /^\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}$/u.exec(value)?.[1];
  if (variable !== undefined) return `env:${variable}`;
  if (/^\$\{input:[^}]+\}$/u.test(value)) {
    notes.push({
      code: "PLACEHOLDER",
      message: `env.${name} was asked for by the editor: it is now env:${name}, to be set where the gateway starts`,
    });
    return `env:${name}`;
  }
  if (/\$\{[^}]+\}/u.test(value)) {
    notes.push({ code: "PLACEHOLDER", message: `env.${name} holds a placeholder that the gateway does not fill in` });
  }
  return undefined;
}
