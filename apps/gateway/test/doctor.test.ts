import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gateway, small, type Workplace, workplace } from "./gateway.js";

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly advice?: string;
}
const doctor = async (place: Workplace, args: string[] = [], env: Record<string, string> = {}) => {
  const { code, stdout } = await gateway(["doctor", "--state", place.state, "--json", ...args], { env });
  const { ok, checks }: { ok: boolean; checks: Check[] } = JSON.parse(stdout);
  return { code, ok, checks, named: (name: string) => checks.filter((check) => check.name === name) };
};

describe("berth-gateway doctor", { timeout: 60_000 }, () => {
  it("looks at the machine, and says what to do about each thing that is not well", async () => {
    await using place = await workplace();
    const { code, ok, checks } = await doctor(place);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    const names = new Set(checks.map(({ name }) => name));
    for (const name of ["node", "python3", "bubblewrap", "path of desktop programs", "end of servers", "state folder"])
      expect(names).toContain(name);
    for (const { status, advice } of checks.filter(({ status }) => status !== "ok"))
      expect({ status, advice }).toEqual({ status, advice: expect.any(String) });
    expect(await gateway(["doctor", "--state", place.state])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("serve would start"),
    });
  });

  it("says which servers are not pinned, changed, unmeasurable or on the network, and still that serve would start", async () => {
    await using place = await workplace();
    await place.writeCatalog({ held: small(place) });
    await gateway(["pin", "--catalog", place.catalog, "--state", place.state, "--yes"]);
    const { held } = JSON.parse(await readFile(place.catalog, "utf8")).servers;
    await place.writeCatalog({
      held,
      changed: { ...held, spawn: { ...held.spawn, digest: `tree-v1:${"0".repeat(64)}` } },
      fresh: small(place),
      fetched: { transport: "stdio", spawn: { command: "npx", args: ["-y", "x"] } },
      far: { transport: "http-sse", url: "https://example.com/", tlsFingerprint: `SHA256:${"k".repeat(43)}` },
    });
    const { code, named } = await doctor(place, ["--catalog", place.catalog]);
    expect(code).toBe(0);
    expect(named("server held")).toMatchObject([{ status: "ok" }]);
    expect(named("server changed")).toMatchObject([
      { status: "warn", advice: `berth-gateway pin --catalog ${place.catalog} --server changed` },
    ]);
    expect(named("server fresh")).toMatchObject([{ status: "warn", message: expect.stringContaining("NOT_PINNED") }]);
    expect(named("server fetched")[0]).toMatchObject({
      status: "warn",
      message: expect.stringContaining("LAUNCHER_WITHOUT_TARGET"),
    });
    expect(named("server far")).toMatchObject([{ status: "warn" }]);
  });

  it("ends with 1 when serve would not start, naming everything", async () => {
    await using place = await workplace();
    await place.writeCatalog({ one: { transport: "stdio", spawn: { command: "x", env: { A: "env:NOT_SET_A" } } } });
    const config = join(place.folder, "gateway.yaml");
    await writeFile(config, "nams: plain\n");
    const { code, ok, checks } = await doctor(place, ["--catalog", place.catalog, "--config", config]);
    expect({ code, ok }).toEqual({ code: 1, ok: false });
    expect(checks.filter(({ status }) => status === "fail").map(({ name }) => name)).toEqual([
      "configuration",
      "server one",
    ]);
    await writeFile(place.catalog, "[]");
    expect((await doctor(place, ["--catalog", place.catalog])).named("catalog")).toMatchObject([{ status: "fail" }]);
  });

  it("notices a version manager's stand-in that it cannot see through", async () => {
    await using place = await workplace();
    const shims = join(place.folder, ".pyenv", "shims");
    await mkdir(shims, { recursive: true });
    await writeFile(join(shims, "python3"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const { named } = await doctor(place, [], { PATH: `${shims}:${process.env["PATH"]}` });
    expect(named("python3")).toMatchObject([
      { status: "warn", message: expect.stringContaining(shims), advice: expect.any(String) },
    ]);
  });

  it("says when a client that was started from a desktop would not find a server's program", async () => {
    await using place = await workplace();
    const tools = join(place.folder, "tools");
    await mkdir(tools);
    await writeFile(join(tools, "my-own-server"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    await place.writeCatalog({ mine: { transport: "stdio", spawn: { command: "my-own-server" } } });
    const { named } = await doctor(place, ["--catalog", place.catalog], { PATH: `${tools}:${process.env["PATH"]}` });
    expect(named("server mine").map(({ advice }) => advice)).toContain(
      `write ${join(tools, "my-own-server")} as its command`,
    );
  });
});
