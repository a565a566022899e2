import type { ConfinePolicy } from "@berth/venv-host";

/** What the launcher is told, as one argument. No secret is in it: arguments can be read by every user of the machine. */
export interface Launch {
  readonly argv: readonly string[];
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly cwd: string;
}

/** A sandbox has no route to the network: `process-confinement` gives none. */
export function isLaunchable({ network }: ConfinePolicy): boolean {
  return network === "none";
}

export function launchText(argv: readonly string[], { readable, writable, cwd }: ConfinePolicy): string {
  return JSON.stringify({ argv, readable, writable, cwd } satisfies Launch);
}

/** Undefined for what `launchText` did not make. */
export function readLaunch(text: string | undefined): Launch | undefined {
  const value: unknown = JSON.parse(text ?? "null");
  if (typeof value !== "object" || value === null) return undefined;
  if (!("argv" in value && "readable" in value && "writable" in value && "cwd" in value)) return undefined;
  const { argv, readable, writable, cwd } = value;
  if (!isTexts(argv) || !isTexts(readable) || !isTexts(writable) || typeof cwd !== "string") return undefined;
  return { argv, readable, writable, cwd };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
