import { describe, expect, it } from "vitest";
import { readCommand, readStdin, readTimeout } from "../../src/guest/command-terms.js";
import { LeaseError } from "../../src/index.js";
import { readProviderOptions } from "../../src/workers/provider-options.js";

// Inner files: refusals are the same for every provider and need none.

const faultsOf = (read: () => unknown): readonly string[] => {
  try {
    read();
  } catch (error) {
    if (error instanceof LeaseError) return error.faults.map(({ field }) => field);
    throw error;
  }
  return [];
};

describe("a command", () => {
  it.each([
    { what: "no arguments", argv: [], fields: ["argv"] },
    { what: "too many arguments", argv: Array.from({ length: 257 }, () => "x"), fields: ["argv"] },
    { what: "an empty program", argv: [""], fields: ["argv[0]"] },
    { what: "a NUL", argv: ["a", "b\0c"], fields: ["argv[1]"] },
    { what: "an argument that the kernel refuses", argv: ["a", "x".repeat(131_072)], fields: ["argv[1]"] },
    {
      what: "too much together",
      argv: ["a", ...Array.from({ length: 20 }, () => "x".repeat(131_000))],
      fields: ["argv"],
    },
    { what: "a relative folder", argv: ["a"], cwd: "b", fields: ["cwd"] },
    { what: "a folder with a NUL", argv: ["a"], cwd: "/b\0", fields: ["cwd"] },
    { what: "a name of a variable that is none", argv: ["a"], env: { "A=B": "c" }, fields: ["env"] },
    { what: "a value with a NUL", argv: ["a"], env: { A: "\0" }, fields: ["env.A"] },
    {
      what: "several faults, each told",
      argv: ["a\0"],
      cwd: "b",
      env: { A: "\0" },
      fields: ["argv[0]", "env.A", "cwd"],
    },
  ])("with $what is refused", ({ argv, fields, ...options }) => {
    expect(faultsOf(() => readCommand(argv, options, "/workspace"))).toEqual(fields);
  });

  it("may have empty arguments and variables", () => {
    const terms = readCommand(["a", ""], { env: { A: "" } }, "/workspace");
    expect(terms).toEqual({ argv: ["a", ""], env: { A: "" }, cwd: "/workspace" });
  });

  it("may ask for less time than the policy says, and never for more", () => {
    expect(readTimeout({}, 1000)).toBe(1000);
    expect(readTimeout({ timeoutMs: 10 }, 1000)).toBe(10);
    expect(readTimeout({ timeoutMs: 5000 }, 1000)).toBe(1000);
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(faultsOf(() => readTimeout({ timeoutMs }, 1000))).toEqual(["timeoutMs"]);
    }
  });

  it("may read 16 MiB and no more", () => {
    expect(readStdin({})).toHaveLength(0);
    expect(readStdin({ stdin: new Uint8Array(2 ** 24) })).toHaveLength(2 ** 24);
    expect(() => readStdin({ stdin: new Uint8Array(2 ** 24 + 1) })).toThrow(
      expect.objectContaining({ code: "INPUT_TOO_LARGE" }),
    );
  });
});

describe("options of a provider", () => {
  const expected = { known: ["name", "limits"], usualName: "usual" };

  it("are refused by name when they cannot be", () => {
    const limits = { maxOpen: 0, drainMs: 1.5, streamTimeoutMs: 60_001, misspelled: 1 };
    const odd = { name: "with a space", limit: {}, limits };
    expect(faultsOf(() => readProviderOptions(odd, expected))).toEqual([
      "limit",
      "name",
      "limits.misspelled",
      "limits.maxOpen",
      "limits.streamTimeoutMs",
      "limits.drainMs",
    ]);
  });

  it("have defaults", () => {
    const { name, bounds } = readProviderOptions({ limits: { maxOpen: 5 } }, expected);
    expect([name, bounds]).toEqual(["usual", expect.objectContaining({ maxOpen: 5, drainMs: 200 })]);
  });
});
