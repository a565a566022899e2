const longNumber = /\d{16}/u;

/** As `JSON.parse`; `JSON.stringify` then writes numbers that no double holds with the digits that they came with. */
export function parseExactly(text: string): unknown {
  return longNumber.test(text) ? JSON.parse(text, keep) : JSON.parse(text);
}

function keep(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || String(value) === source) return value;
  // Node 22 has it; its type has not come to TypeScript's library yet.
  return "rawJSON" in JSON && typeof JSON.rawJSON === "function" ? JSON.rawJSON(source) : value;
}
