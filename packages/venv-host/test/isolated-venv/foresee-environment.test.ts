import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HeldEnvironment } from "../../src/index.js";
import { environmentFacts, foreseeEnvironment } from "../../src/index.js";
import { entryOf, makeCwd } from "./plugins.js";

const key = "ab".repeat(32);
const store = { keyOf: async () => ({ digest: key, parts: {} }) };

function cwdWithPlugin(): string {
  const cwd = makeCwd();
  mkdirSync(join(cwd, "plugins", "greeter"), { recursive: true });
  writeFileSync(join(cwd, "plugins", "greeter", "requirements.txt"), "cpex\n");
  return cwd;
}

const entry = entryOf("", { config: { class_name: "greeter.Greeter", requirements_file: "requirements.txt" } });

describe("the environment that a plugin would run in", () => {
  it.each([
    { name: "is built when the store has it ready", known: new Set([key]), state: "built" },
    { name: "is absent when it has not", known: new Set<string>(), state: "absent" },
  ])("$name", async ({ known, state }) => {
    const foreseen = await foreseeEnvironment(entry, { cwd: cwdWithPlugin(), store, known });
    expect(foreseen).toEqual({ state, key, passedOver: undefined });
  });

  it("cannot be told of a plugin that cannot run, and the reason is given", async () => {
    const options = { cwd: "/nonexistent", store, known: new Set<string>() };
    await expect(foreseeEnvironment(entry, options)).rejects.toMatchObject({ code: "WORKER_START_FAILED" });
  });
});

describe("the facts of an environment", () => {
  it("are where it is for an installed one, and what was measured for a built one", () => {
    expect(environmentFacts({ plugin: "p", installed: "/v" })).toEqual({
      plugin: "p",
      origin: "installed",
      path: "/v",
    });
    const held: HeldEnvironment = {
      key,
      path: "/v",
      python: "/v/bin/python",
      sitePackages: "/v/lib",
      origin: "built",
      reason: undefined,
      evidence: {
        digest: "d",
        key,
        interpreter: { path: "/p", version: "3.11.7", sha256: "s" },
        installer: "uv 1",
        confinement: "none",
        distributions: [{ name: "cpex", version: "0.1.4", recordSha256: undefined }],
      },
      close: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    };
    expect(environmentFacts({ plugin: "p", held })).toEqual({
      plugin: "p",
      origin: "built",
      reason: undefined,
      environmentKey: key,
      environmentDigest: "d",
      pythonVersion: "3.11.7",
      pythonSha256: "s",
      installer: "uv 1",
      confinement: "none",
      distributions: ["cpex==0.1.4 no record"],
    });
  });
});
