import type { ConfinementPolicy } from "../policy.js";
import type { LaunchPolicy } from "./launch-policy.js";

/** What the launcher is told of the policy, as one argument. No secret is in it: every user of the machine can read it. */
export type Launch = Pick<LaunchPolicy, "name" | "readable" | "writable" | "cwd">;

export function launchText({ name, readable, writable, cwd }: LaunchPolicy): string {
  return JSON.stringify({ name, readable, writable, cwd } satisfies Launch);
}

/** Undefined for what `launchText` did not make. */
export function readLaunch(text: string | undefined): Launch | undefined {
  const value = tryParse(text ?? "");
  if (typeof value !== "object" || value === null) return undefined;
  if (!("name" in value && "readable" in value && "writable" in value && "cwd" in value)) return undefined;
  const { name, readable, writable, cwd } = value;
  if (typeof name !== "string" || typeof cwd !== "string" || !isTexts(readable) || !isTexts(writable)) return undefined;
  return { name, readable, writable, cwd };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // it is no launch, which is told
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** The policy of the sandbox. What is named twice, lies in another one, or is the system's is there already. */
export function sandboxPolicy({ readable, writable }: Launch): ConfinementPolicy {
  return {
    readOnly: outermost(readable.filter((path) => !isOfSystem(path))).map((source) => ({ source })),
    readWrite: outermost(writable).map((source) => ({ source })),
    network: { mode: "none" },
  };
}

function outermost(paths: readonly string[]): readonly string[] {
  const all = [...new Set(paths)];
  return all.filter((path) => !all.some((other) => path.startsWith(`${other}/`)));
}

function isOfSystem(path: string): boolean {
  return /^\/(?:usr|bin|sbin|lib|lib32|lib64|libx32)(?:\/|$)/u.test(path);
}
