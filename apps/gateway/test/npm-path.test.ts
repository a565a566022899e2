import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callerEnvironment, foldersOfNpm } from "../src/caller-environment.js";
import { connect, gateway, small, type Workplace, workplace } from "./gateway.js";

/** A node where npm puts its own, and one where a client finds it. */
const twoNodes = async (place: Workplace) => {
  const npms = join(place.folder, "node_modules", ".bin");
  const clients = join(place.folder, "bin");
  for (const folder of [npms, clients]) {
    await mkdir(folder, { recursive: true });
    await symlink(process.execPath, join(folder, "node"));
  }
  const ordinary = { PATH: `${clients}:/usr/bin:/bin` };
  const shell = { PATH: `${npms}:${ordinary.PATH}` };
  return { npms, clients, ordinary, shell, npx: { ...shell, npm_command: "exec" } };
};

describe("under npx, a PATH with node_modules/.bin", { timeout: 60_000 }, () => {
  it("is not where servers' programs are looked for, so that a client with an ordinary PATH starts what was pinned", async () => {
    await using place = await workplace();
    const { clients, ordinary, shell, npx } = await twoNodes(place);
    await place.writeCatalog({ small: small(place, { command: "node" }) });
    const args = ["--catalog", place.catalog, "--state", place.state];
    const pinned = await gateway(["pin", ...args, "--yes", "--json"], { env: npx });
    expect(pinned).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("node_modules/.bin on PATH is not looked in"),
    });
    expect(JSON.parse(pinned.stdout).servers.small.interpreter.path).toBe(join(clients, "node"));
    // A client passes PATH on, and drops what npm says beside it.
    for (const env of [ordinary, npx, shell]) {
      await using gate = await connect(["serve", ...args, "--stdio"], { env });
      const called = await gate.client.callTool({ name: "small__echo", arguments: { text: "x" } });
      expect(called).toMatchObject({ content: [{ text: "x" }] });
    }
  });

  it("is the same for run and pin --, whichever comes first", async () => {
    await using place = await workplace();
    const { ordinary, npx } = await twoNodes(place);
    const line = ["--state", place.state, "--", "node", place.server];
    await (await connect(["run", ...line], { cwd: place.folder, env: npx })).close();
    await (await connect(["run", ...line], { cwd: place.folder, env: ordinary })).close();
    for (const env of [npx, ordinary])
      expect(await gateway(["pin", ...line], { cwd: place.folder, env })).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("unchanged"),
      });
  });

  it("is named by doctor, and by the advice for a program that lies only there", async () => {
    await using place = await workplace();
    const { npms, npx } = await twoNodes(place);
    await symlink(process.execPath, join(npms, "only-here"));
    const { stdout } = await gateway(["doctor", "--state", place.state], { env: npx });
    expect(stdout).toContain(`note  path of npm: ${npms} on PATH is not looked in`);
    const pin = await gateway(["pin", "--state", place.state, "--", "only-here", place.server], { env: npx });
    expect(pin).toMatchObject({ code: 1, stdout: expect.stringContaining("write the program's whole path") });
  });

  it("counts where a person names it with its whole path", async () => {
    await using place = await workplace();
    const { npms, shell } = await twoNodes(place);
    const node = join(npms, "node");
    const pin = await gateway(["pin", "--state", place.state, "--", node, place.server], { env: shell });
    expect(pin.stdout).toContain(`interpreter  ${node}`);
  });
});

describe("callerEnvironment", () => {
  const path = "/a/node_modules/.bin:/npm/lib/node-gyp-bin:/usr/bin::/b/node_modules/.bin/";
  it("leaves out npm's folders, and nothing else", () => {
    expect(callerEnvironment({ PATH: path, X: "1" })).toEqual({ PATH: "/usr/bin:", X: "1" });
    expect(callerEnvironment({ PATH: "/usr/bin:/x/.bin", X: "1" })).toEqual({ PATH: "/usr/bin:/x/.bin", X: "1" });
    expect(callerEnvironment({})).toEqual({});
    expect(foldersOfNpm({ PATH: path })).toHaveLength(3);
  });
});
