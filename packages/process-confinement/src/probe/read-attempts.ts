import type { AttemptsReport } from "./attempts.js";

/** The report as the program printed it; undefined when it did not come to that. */
export function readAttempts(text: string): AttemptsReport | undefined {
  const report = parse(text);
  if (typeof report !== "object" || report === null) return undefined;
  const members = new Map<string, unknown>(Object.entries(report));
  const textOf = (name: string): string => String(members.get(name));
  const numberOf = (name: string): number => Number(members.get(name));
  return {
    ownWrite: textOf("ownWrite"),
    readOnlyWrite: textOf("readOnlyWrite"),
    secret: textOf("secret"),
    loopback: textOf("loopback"),
    abstract: textOf("abstract"),
    personality: textOf("personality"),
    namespaces: tableOf(members.get("namespaces")),
    status: tableOf(members.get("status")),
    openFiles: numberOf("openFiles"),
    fileBytes: numberOf("fileBytes"),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // it ended before it could tell
  }
}

function tableOf(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}
