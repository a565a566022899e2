import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HeldEnvironment } from "../../src/index.js";
import { environmentFacts, foreseeEnvironment, foreseenText, tryPlugin } from "../../src/index.js";
import { makeInstalled, metadata, ofClass } from "../installed/plugin-folder.js";
import { entryOf, makeCwd, makeEnvironment, processesOf } from "./plugins.js";

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

  it("is the store's when an installed one lost its framework, which is said", async () => {
    const installed = makeInstalled();
    installed.write(ofClass, metadata(installed));
    const cwd = join(installed.home, "..", "..");
    const config = { class_name: "pii.filters.PiiFilter", requirements_file: "requirements.txt" };
    const options = { cwd, store, known: new Set<string>() };
    const pii = entryOf("", { version: "1.2", config });
    const path = join(installed.home, ".venv");
    expect(await foreseeEnvironment(pii, options)).toEqual({ state: "installed", path });
    rmSync(join(path, "lib"), { recursive: true });
    const passedOver = { path, verdict: "files missing", why: "it has no cpex/framework/isolated/worker.py" };
    expect(await foreseeEnvironment(pii, options)).toEqual({ state: "absent", key, passedOver });
  });

  it("cannot be told of a plugin that cannot run, and the reason is given", async () => {
    const options = { cwd: "/nonexistent", store, known: new Set<string>() };
    await expect(foreseeEnvironment(entry, options)).rejects.toMatchObject({ code: "WORKER_START_FAILED" });
  });
});

describe("a plugin that is tried", () => {
  const held = (environment: ReturnType<typeof makeEnvironment>): HeldEnvironment => ({
    ...factsOf(environment.path),
    python: environment.python,
    close: environment.close,
    [Symbol.asyncDispose]: environment.close,
  });

  it.each([
    { name: "is told with its environment when its class can be imported", source: "class Greeter: pass\n" },
    { name: "is told by why it cannot be imported, though its environment is there", source: "import numpi\n" },
  ])("$name, and nothing of it is left", async ({ source }) => {
    const cwd = cwdWithPlugin();
    writeFileSync(join(cwd, "plugins", "greeter", "__init__.py"), source);
    const environment = makeEnvironment();
    const acquire = async (): Promise<HeldEnvironment> => held(environment);
    const tried = tryPlugin(entry, { cwd, store: { ...store, acquire }, known: new Set([key]) });
    if (source.startsWith("class")) expect(await tried).toEqual({ state: "built", key, passedOver: undefined });
    else await expect(tried).rejects.toThrow("import of `greeter` failed: No module named 'numpi' (it needs numpi");
    expect([environment.closed(), processesOf(environment.path)]).toEqual([1, 0]);
  });

  it("is not started when its environment would have to be built", async () => {
    const acquire = (): Promise<never> => Promise.reject(new Error("nothing is to be built"));
    const options = { cwd: cwdWithPlugin(), store: { ...store, acquire }, known: new Set<string>() };
    expect(await tryPlugin(entry, options)).toMatchObject({ state: "absent", key });
  });
});

/** As a store gives it. */
function factsOf(path: string): Omit<HeldEnvironment, "python" | "close" | typeof Symbol.asyncDispose> {
  return {
    key,
    path,
    sitePackages: "/v/lib",
    origin: "built",
    reason: undefined,
    evidence: {
      digest: "d",
      key,
      interpreter: { path: "/p", version: "3.11.7", sha256: "s" },
      installer: "uv 1",
      confinement: "none",
      builtFromSource: false,
      distributions: [{ name: "cpex", version: "0.1.4", recordSha256: undefined }],
    },
  };
}

describe("the words for an environment", () => {
  const passedOver = { path: "/p/.venv", verdict: "requirements changed" } as const;
  it.each([
    [
      { state: "installed", path: "/p/.venv" } as const,
      "uses /p/.venv, as it was installed; its class can be imported",
    ],
    [
      { state: "built", key, passedOver: undefined } as const,
      `its environment ${key.slice(0, 16)} is built and its class can be imported`,
    ],
    [
      { state: "absent", key, passedOver } as const,
      `its environment ${key.slice(0, 16)} is built at its first use; /p/.venv is not used: requirements changed`,
    ],
    [
      { state: "absent", key, passedOver: { ...passedOver, why: "click is lost" } } as const,
      `its environment ${key.slice(0, 16)} is built at its first use; /p/.venv is not used: requirements changed (click is lost)`,
    ],
  ])("say of %o what it is", (foreseen, words) => {
    expect(foreseenText(foreseen)).toBe(words);
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
      ...factsOf("/v"),
      python: "/v/bin/python",
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
      builtFromSource: false,
      distributions: ["cpex==0.1.4 no record"],
    });
  });
});
