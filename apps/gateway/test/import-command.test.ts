import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gateway, workplace } from "./gateway.js";

const clientFile = {
  mcpServers: {
    files: { command: "node", args: ["/opt/files.js"], env: { API_TOKEN: "s3cret-value" } },
    fetcher: { command: "npx", args: ["-y", "some-server"] },
    remote: { url: "https://example.com/mcp" },
  },
};

describe("berth-gateway import", { timeout: 60_000 }, () => {
  it("writes a catalog and reports every entry, without showing values", async () => {
    await using place = await workplace();
    const file = join(place.folder, "client.json");
    await writeFile(file, JSON.stringify(clientFile));
    const { code, stdout } = await gateway(["import", file, "--out", place.catalog]);
    expect(code).toBe(0);
    expect(stdout).toContain("files: taken");
    expect(stdout).toContain("npm install some-server");
    expect(stdout).toContain("remote: NOT taken");
    expect(stdout).not.toContain("s3cret-value");
    const catalog = JSON.parse(await readFile(place.catalog, "utf8"));
    expect(Object.keys(catalog.servers)).toEqual(["files", "fetcher"]);
    expect(catalog.servers.files.spawn.env).toEqual({ API_TOKEN: "s3cret-value" });
    // It may hold secrets.
    expect((await stat(place.catalog)).mode & 0o777).toBe(0o600);
  });

  it("prints the catalog without --out, and the report as JSON with --json", async () => {
    await using place = await workplace();
    const file = join(place.folder, "client.json");
    await writeFile(file, JSON.stringify(clientFile));
    const printed = await gateway(["import", file]);
    expect(Object.keys(JSON.parse(printed.stdout).servers)).toEqual(["files", "fetcher"]);
    expect(printed.stderr).toContain("files: taken");
    const { stdout } = await gateway(["import", file, "--out", place.catalog, "--json"]);
    expect(JSON.parse(stdout).servers).toMatchObject([
      { name: "files", outcome: "added", line: 1, notes: [{ code: "LITERAL_SECRET" }] },
      { name: "fetcher", outcome: "added", notes: [{ code: "NO_TARGET_ON_DISK" }] },
      { name: "remote", outcome: "left-out", notes: [{ code: "NETWORK_SERVER" }] },
    ]);
  });

  it("adds to a catalog: an equal entry stays, a different one of the same name is a conflict", async () => {
    await using place = await workplace();
    const pinned = {
      transport: "stdio",
      spawn: {
        command: "node",
        args: ["/opt/files.js"],
        env: { API_TOKEN: "s3cret-value" },
        digest: `sha256:${"0".repeat(64)}`,
      },
    };
    await place.writeCatalog({ files: pinned, fetcher: { transport: "stdio", spawn: { command: "other" } } });
    await chmod(place.catalog, 0o644);
    const before = await readFile(place.catalog, "utf8");
    const file = join(place.folder, "client.json");
    await writeFile(file, JSON.stringify(clientFile));
    const { code, stdout } = await gateway(["import", file, "--out", place.catalog]);
    expect(code).toBe(1);
    expect(stdout).toContain("files: is in the catalog already");
    expect(stdout).toContain("fetcher: NOT taken: the catalog has another server of this name");
    expect(await readFile(place.catalog, "utf8")).toBe(before);
    expect((await stat(place.catalog)).mode & 0o777).toBe(0o644);
  });

  it("pins what it imported with --pin, in one report", async () => {
    await using place = await workplace();
    const file = join(place.folder, "client.json");
    const small = { command: process.execPath, args: [place.server] };
    await writeFile(file, JSON.stringify({ mcpServers: { small, fetcher: { command: "npx", args: ["x"] } } }));
    const args = ["import", file, "--out", place.catalog, "--state", place.state, "--pin", "--yes"];
    const { code, stdout } = await gateway([...args, "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [{ name: "small", outcome: "added" }, { name: "fetcher" }],
      pinned: {
        small: { status: "pinned" },
        fetcher: { status: "error", error: { reason: "LAUNCHER_WITHOUT_TARGET" } },
      },
    });
    expect(JSON.parse(await readFile(place.catalog, "utf8")).servers.small.spawn.digest).toMatch(/^tree-v1:/u);
    expect(await gateway(args)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("small: is in the catalog already"),
    });
  });

  it("loses no entry when twelve imports write one catalog at once", async () => {
    await using place = await workplace();
    const names = Array.from({ length: 12 }, (_, index) => `server-${index}`);
    const runs = names.map(async (name) => {
      const file = join(place.folder, `${name}.json`);
      await writeFile(file, JSON.stringify({ mcpServers: { [name]: { command: name } } }));
      return gateway(["import", file, "--out", place.catalog]);
    });
    expect((await Promise.all(runs)).map(({ code }) => code)).toEqual(names.map(() => 0));
    expect(Object.keys(JSON.parse(await readFile(place.catalog, "utf8")).servers).sort()).toEqual([...names].sort());
  }, 60_000);

  it.each([
    ["a file that is absent", ["absent.json"], 2, "cannot be read"],
    ["--pin without --out", ["x.json", "--pin"], 2, "--pin needs --out"],
    ["no file", [], 2, "missing required argument"],
  ])("says what is wrong with %s", async (_name, args, code, message) => {
    await using place = await workplace();
    const finished = await gateway(["import", ...args], { cwd: place.folder });
    expect(finished).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });

  it("ends with 1 when a file has no form that is known", async () => {
    await using place = await workplace();
    const file = join(place.folder, "client.json");
    await writeFile(file, "{}");
    expect(await gateway(["import", file, "--out", place.catalog])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("holds none of"),
    });
  });

  it("leaves a catalog alone that it cannot read", async () => {
    await using place = await workplace();
    const file = join(place.folder, "client.json");
    await writeFile(file, JSON.stringify(clientFile));
    await writeFile(place.catalog, "{ broken");
    const { code, stderr } = await gateway(["import", file, "--out", place.catalog]);
    expect(code).toBe(2);
    expect(stderr).toContain("catalog.json:1:3");
    expect(await readFile(place.catalog, "utf8")).toBe("{ broken");
  });
});
