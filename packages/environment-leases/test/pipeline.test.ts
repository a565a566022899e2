import { describe, expect, it } from "vitest";
import {
  createEnvironmentPipeline,
  type EnvironmentPipelineOptions,
  type EnvironmentProfile,
  LeaseError,
  type ManagedProvider,
} from "../src/index.js";
import { createMemoryProvider, type MemoryProviderOptions } from "../src/memory.js";
import { settle } from "./clock.js";
import { codeOf } from "./leased.js";

const python: EnvironmentProfile = { provider: "memory", template: "python3" };
const shell: EnvironmentProfile = { ...python, shell: true };
const elsewhere: EnvironmentProfile = { ...python, provider: "elsewhere" };
const windows: EnvironmentProfile = { ...python, platform: "windows" };

function createPiped(
  memory: MemoryProviderOptions = {},
  change: (provider: ManagedProvider) => ManagedProvider = (p) => p,
) {
  const calls: string[] = [];
  const provider = createMemoryProvider({
    ...memory,
    async onStep(step) {
      if (step.when === "before") calls.push(step.call);
      await memory.onStep?.(step);
    },
  });
  const profiles: Record<string, EnvironmentProfile> = { python, shell, elsewhere, windows };
  const pipeline = createEnvironmentPipeline({ profiles, providers: [change(provider)] });
  return { pipeline, world: provider.world, calls, profiles };
}

/** Fails the close, and what runs before it. */
const failing =
  (...failed: readonly string[]): MemoryProviderOptions["onStep"] =>
  ({ call, when }) => {
    if (when === "before" && failed.includes(call)) throw new Error(`no ${call}`);
  };

describe("a pipeline", () => {
  it("runs a program in a worker of its own that is gone before the result is given", async () => {
    const { pipeline, world, calls } = createPiped();
    const result = await pipeline.execute({ payload: { profile: "python", argv: ["echo", "a", ""] } });
    const shown = { exit_code: 0, stdout: "a \n", stderr: "", provider: "memory", platform: "linux" };
    expect(result).toEqual(shown);
    expect(world.workers).toEqual([]);
    expect(calls).toEqual(["create", "run", "close"]);
  });

  it("takes a status other than 0 for a result, and tells a signal as shells do", async () => {
    const killed: ManagedProvider["create"] = async (name, profile, options) => {
      const environment = await createMemoryProvider().create(name, profile, options);
      const run = async () => ({ ...(await environment.run(["exit", "0"])), exitCode: undefined, signal: "SIGKILL" });
      return { ...environment, run };
    };
    const { pipeline } = createPiped();
    expect((await pipeline.execute({ payload: { profile: "python", argv: ["exit", "3"] } })).exit_code).toBe(3);
    const other = createPiped({}, (provider) => ({ ...provider, create: killed }));
    expect((await other.pipeline.execute({ payload: { profile: "python", argv: ["x"] } })).exit_code).toBe(137);
  });

  it("installs a shell where the profile asks for it, and gives the policy's timeout", async () => {
    const seen: unknown[] = [];
    const { pipeline } = createPiped({}, (provider) => ({
      ...provider,
      async create(...given) {
        const environment = await provider.create(...given);
        return {
          ...environment,
          async installShell(options) {
            seen.push("installShell");
            await environment.installShell(options);
          },
          async run(argv, options) {
            seen.push(options?.timeoutMs);
            return environment.run(argv, options);
          },
        };
      },
    }));
    await pipeline.execute({ payload: { profile: "shell", argv: ["exit"] } });
    await pipeline.execute({ payload: { profile: "python", argv: ["exit"] } });
    expect(seen).toEqual(["installShell", 300_000, 300_000]);
  });

  it.each([
    { name: "no object", payload: ["python"], fields: [""] },
    { name: "nothing", payload: {}, fields: ["profile", "argv"] },
    { name: "a policy of the client's", payload: { profile: "python", argv: ["x"], policy: {} }, fields: ["policy"] },
    { name: "a profile that nobody registered", payload: { profile: "toString", argv: ["x"] }, fields: ["profile"] },
    { name: "a profile that is no string", payload: { profile: 1, argv: ["x"] }, fields: ["profile"] },
    { name: "an empty list", payload: { profile: "python", argv: [] }, fields: ["argv"] },
    { name: "a program without a name", payload: { profile: "python", argv: ["", "x"] }, fields: ["argv[0]"] },
    { name: "a string for a list", payload: { profile: "python", argv: "ls" }, fields: ["argv"] },
    { name: "257 arguments", payload: { profile: "python", argv: Array(257).fill("x") }, fields: ["argv"] },
    {
      name: "wrong arguments, each named",
      payload: { profile: "python", argv: ["x", 1, "a\0", null] },
      fields: ["argv[1]", "argv[2]", "argv[3]"],
    },
    {
      name: "an argument over 128 KiB",
      payload: { profile: "python", argv: ["x", "ü".repeat(65_536)] },
      fields: ["argv[1]"],
    },
    {
      name: "arguments over 1 MiB together",
      payload: { profile: "python", argv: Array(9).fill("x".repeat(130_000)) },
      fields: ["argv"],
    },
  ])("refuses $name before anything is started", async ({ payload, fields }) => {
    const { pipeline, calls } = createPiped();
    const error = await pipeline.execute({ payload }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LeaseError);
    expect(error).toMatchObject({ code: "PAYLOAD_INVALID" });
    expect(error instanceof LeaseError && error.faults.map(({ field }) => field)).toEqual(fields);
    expect(calls).toEqual([]);
  });

  it("refuses an unknown provider and a missing capability before anything is started", async () => {
    const { pipeline, calls } = createPiped();
    expect(await codeOf(pipeline.execute({ payload: { profile: "elsewhere", argv: ["x"] } }))).toBe("PROVIDER_UNKNOWN");
    expect(await codeOf(pipeline.execute({ payload: { profile: "windows", argv: ["x"] } }))).toBe("CAPABILITY_MISSING");
    expect(calls).toEqual([]);
  });

  it("is refused with an option that there is none of, and names it", () => {
    const misspelled = { profiles: { python }, providers: [createMemoryProvider()], allowUnconfind: true };
    expect(() => createEnvironmentPipeline(misspelled)).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        faults: [expect.objectContaining({ field: "allowUnconfind" })],
      }),
    );
    const wrong: EnvironmentPipelineOptions = JSON.parse('{"profiles":{},"providers":[],"allowUnconfined":"no"}');
    expect(() => createEnvironmentPipeline(wrong)).toThrow(/allowUnconfined has to be true or false/);
  });

  it("does not see what is added to its profiles later", async () => {
    const { pipeline, profiles } = createPiped();
    profiles["late"] = python;
    expect(await codeOf(pipeline.execute({ payload: { profile: "late", argv: ["x"] } }))).toBe("PAYLOAD_INVALID");
  });

  it("loses the result of an environment that could not be closed", async () => {
    const { pipeline } = createPiped({ onStep: failing("close") });
    await expect(pipeline.execute({ payload: { profile: "python", argv: ["exit"] } })).rejects.toThrow("no close");
  });

  it("closes after a failed command, and throws what failed", async () => {
    const { pipeline, world } = createPiped({ onStep: failing("run") });
    await expect(pipeline.execute({ payload: { profile: "python", argv: ["exit"] } })).rejects.toThrow("no run");
    expect(world.workers).toEqual([]);
  });

  it("throws both when the command and the cleanup fail, the command's first", async () => {
    const { pipeline } = createPiped({ onStep: failing("run", "close") });
    const error = await pipeline.execute({ payload: { profile: "python", argv: ["exit"] } }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(AggregateError);
    expect(error.errors.map(({ message }: Error) => message)).toEqual(["no run", "no close"]);
  });

  it("kills the command of an aborted call, and leaves nothing", async () => {
    const { pipeline, world } = createPiped();
    const reason = new Error("the client is gone");
    const abort = new AbortController();
    const work = pipeline.execute({ payload: { profile: "python", argv: ["resist"] }, signal: abort.signal });
    await settle();
    expect(world.workers.length).toBe(1);
    abort.abort(reason);
    await expect(work).rejects.toBe(reason);
    expect(world.workers).toEqual([]);
    const early = pipeline.execute({
      payload: { profile: "python", argv: ["exit"] },
      signal: AbortSignal.abort(reason),
    });
    await expect(early).rejects.toBe(reason);
  });

  it("runs many at once, each in its own worker", async () => {
    const names = new Set<string>();
    const { pipeline } = createPiped({
      onStep: ({ call, worker }) => void (call === "create" && names.add(worker ?? "")),
    });
    const works = Array.from({ length: 20 }, (_, index) =>
      pipeline.execute({ payload: { profile: "python", argv: ["echo", String(index)] } }),
    );
    const results = await Promise.all(works);
    expect(results.map(({ stdout }) => stdout)).toEqual(results.map((_, index) => `${index}\n`));
    expect(names.size).toBe(20);
    for (const name of names) expect(name).toMatch(/^mcp-[0-9a-f]{24}$/);
  });
});
