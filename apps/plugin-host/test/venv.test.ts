import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { partsForAll } from "../../../fixtures/parts.js";
import { entryOf, makeWorld, run } from "./plugin-host.js";

const world = makeWorld();
const config = world.config("plugins.yaml", { guard: entryOf("filters.Guard"), look: entryOf("filters.Look") });
const stateOnly = ["--state", world.state];

describe("venv", { timeout: 100_000 }, () => {
  const isReady = partsForAll("python3-venv");
  beforeAll(async () => {
    if (!isReady) return;
    const { code, stdout, stderr } = await world.run(["venv", "build", "--config", config]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/^built {4}plugin guard .*cpex 0\.1\.4\ncached {3}plugin look /);
    expect(stderr).toContain("plugin guard: creating the environment");
    expect(stderr).toMatch(/plugin guard: compiling \d+ modules/);
    expect(stderr).not.toContain("WARNING");
  }, 120_000);

  it("builds once what two plugins ask for, and says so again", async () => {
    const { code, stdout } = await world.run(["venv", "build", "look", "--config", config, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      plugins: [{ plugin: "look", ok: true, origin: "cached", evidence: { cpexVersion: "0.1.4" } }],
    });
  });

  it("lists what is there", async () => {
    const { code, stdout } = await run(["venv", "list", "--json", ...stateOnly]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ environments: [{ state: "ready", distributions: 1, heldBy: [] }] });
    expect((await run(["venv", "list", ...stateOnly])).stdout).toContain("1 environments");
  });

  it("collects nothing that was used lately, unless a bound says so, and first says what would go", async () => {
    const report = async (...args: readonly string[]): Promise<unknown> =>
      JSON.parse((await run(["venv", "gc", "--json", ...args, ...stateOnly])).stdout);
    expect(await report()).toMatchObject({ removed: [], kept: 1 });
    expect(await report("--max-bytes", "0", "--dry-run")).toMatchObject({ removed: [{ bytes: expect.any(Number) }] });
    expect(await report()).toMatchObject({ removed: [], kept: 1 });
  });

  it("says before the first use that nothing was built yet, and makes nothing", async () => {
    const unused = join(world.folder, "unused");
    for (const command of ["list", "gc"]) {
      const told = await run(["venv", command, "--state", unused]);
      expect(told).toEqual({ code: 0, stdout: `nothing was built yet in ${unused}\n`, stderr: "" });
    }
    const list = await run(["venv", "list", "--json", "--state", unused]);
    expect([list.code, JSON.parse(list.stdout)]).toEqual([0, { environments: [] }]);
    const gc = await run(["venv", "gc", "--json", "--state", unused]);
    expect([gc.code, JSON.parse(gc.stdout)]).toMatchObject([0, { removed: [], kept: 0 }]);
    expect(existsSync(unused)).toBe(false);
  });

  it("says that serve would start, and what each plugin would run in", async () => {
    const { code, stdout } = await world.run(["venv", "doctor", "--config", config]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/plugin guard: its environment [0-9a-f]{16} is built/)]);
    expect(stdout).toContain("serve would start");
  });

  it("says what keeps a plugin from running", async () => {
    const missing = world.config("missing.yaml", {
      lost: entryOf("filters.Guard").replace("requirements.txt", "absent.txt"),
    });
    const { code, stdout } = await world.run(["venv", "doctor", "--config", missing, "--json"]);
    const checks: unknown = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(checks).toMatchObject({ ok: true });
    expect(stdout).toContain("absent.txt");
    const faulty = world.config("faulty.yaml", { one: "kind: wasm, hooks: [tool_pre_invoke]" });
    const refused = await world.run(["venv", "doctor", "--config", faulty]);
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("this host has isolated_venv")]);
  });

  it("says which class cannot be imported, though its environment is built", async () => {
    const broken = world.config("broken.yaml", { typo: entryOf("filters.Gard"), guard: entryOf("filters.Guard") });
    const says = "import of `my_pkg.filters` failed: it has no class `Gard`";
    const built = await world.run(["venv", "build", "--config", broken]);
    expect(built).toMatchObject({ code: 1, stdout: expect.stringContaining(`FAILED   plugin typo: ${says}`) });
    expect(built.stdout).toContain("cached   plugin guard ");
    const { code, stdout } = await world.run(["venv", "doctor", "--config", broken]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`plugin typo: ${says}`)]);
    expect(stdout).toMatch(/plugin guard: its environment [0-9a-f]{16} is built and its class can be imported/);
  });

  it("says that a file has no plugins, which a misspelled key can mean", async () => {
    const empty = join(world.folder, "empty.yaml");
    writeFileSync(empty, "plugns: []\n");
    const { code, stdout } = await world.run(["venv", "doctor", "--config", empty]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("it has no plugins")]);
    const built = await world.run(["venv", "build", "--config", empty]);
    expect([built.code, built.stderr]).toEqual([0, expect.stringContaining("has no plugins to build for")]);
  });

  it("shows the end of what an installer said when it failed", async () => {
    writeFileSync(join(world.folder, "plugins", "my_pkg", "wrong.txt"), "no-such-distribution-of-ours\n");
    const wrong = world.config("wrong.yaml", { w: entryOf("filters.Guard").replace("requirements.txt", "wrong.txt") });
    const { code, stdout } = await world.run(["venv", "build", "--config", wrong]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAILED {3}plugin w: install: /);
    expect(stdout).toContain("no-such-distribution-of-ours");
  });

  it.each([
    {
      name: "a plugin that there is not",
      args: ["venv", "build", "nobody", "--config", config],
      says: "no plugin nobody",
    },
    {
      name: "an index beside wheels",
      args: ["venv", "build", "--config", config, "--index", "https://a.test"],
      says: "exclude",
    },
  ])("refuses $name", async ({ args, says }) => {
    const { code, stderr } = await world.run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });

  it.each([
    { args: ["venv", "gc", "--max-bytes", "much", ...stateOnly], says: "no whole number" },
    { args: ["venv", "list", "--state", world.folder], says: "no state folder" },
  ])("refuses $args", async ({ args, says }) => {
    const { code, stderr } = await run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});
