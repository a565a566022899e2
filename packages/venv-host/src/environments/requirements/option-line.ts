import { requirementsFault } from "./requirements-fault.js";

/** A line that begins with `-`. */
export type OptionLine =
  | { readonly includes: string; readonly as: "requirement" | "constraint" }
  | { readonly name: string; readonly value: string | undefined; readonly choosesIndex: boolean };

const shortNames: Readonly<Record<string, string>> = {
  "-r": "--requirement",
  "-c": "--constraint",
  "-i": "--index-url",
  "-f": "--find-links",
  "-e": "--editable",
};
const choosing = ["--index-url", "--extra-index-url", "--find-links", "--trusted-host"] as const;
const plain = ["--no-binary", "--only-binary"] as const;
const flags = ["--no-index", "--pre", "--prefer-binary", "--require-hashes"] as const;

/** Reads `-r file`, `-rfile`, `--requirement=file` and the other options that a requirements file may hold. */
export function readOption(line: string, where: string): OptionLine {
  const short = /^(-[rcife])\s*=?\s*(.*)$/.exec(line);
  const long = /^(--[a-z-]+)(?:[\s=]+(.*))?$/.exec(line);
  const name = short === null ? long?.[1] : shortNames[short[1] ?? ""];
  const value = (short === null ? long?.[2] : short[2])?.trim() || undefined;
  if (name === undefined) throw requirementsFault(where, "is an option that is not known");
  if (name === "--editable") {
    throw requirementsFault(
      where,
      "asks for an editable install, which would change under its environment: build a wheel",
    );
  }
  if (some(flags, name)) return { name, value: undefined, choosesIndex: name === "--no-index" };
  if (value === undefined || /\s/.test(value)) throw requirementsFault(where, `${name} needs one value without spaces`);
  if (name === "--requirement") return { includes: value, as: "requirement" };
  if (name === "--constraint") return { includes: value, as: "constraint" };
  if (some(choosing, name)) return { name, value, choosesIndex: true };
  if (some(plain, name)) return { name, value, choosesIndex: false };
  throw requirementsFault(where, `${name} is not an option that a requirements file of this host may hold`);
}

const some = (names: readonly string[], name: string): boolean => names.includes(name);
