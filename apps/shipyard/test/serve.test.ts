import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tellingEndless } from "./cells.js";
import { entriesOf, leasesOf, owned, place, run, startSession } from "./places.js";
import { processesNaming } from "./remains.js";
import { ask, scratchFolder, serve, shipyard, tokenHeaders, unconfined, writeConfig } from "./shipyard.js";

/** Each test starts commands, up to nine of them, and each start takes seconds where many others want to run. */
const timeout = 120_000;

describe("serve", { timeout }, () => {
  it("says in one line that it listens, runs code, and ends with 0, with nothing left", async () => {
    const { state, args } = place();
    const served = await serve(args);
    expect(await ask(`${served.url}/health`, undefined)).toEqual({ status: 200, body: { status: "ok" } });
    expect(await run(served, "print(6 * 7)")).toMatchObject({ stdout: "42\n", stderr: "" });
    await startSession(served, "kept");
    expect(await served.kill("SIGTERM")).toBe(0);
    expect(await leasesOf(state)).toEqual([]);
    const [, ended] = [...entriesOf(state)].filter(({ name }) => name === "kept");
    expect(ended).toMatchObject({ type: "lease.session.ended", reason: "shutdown" });
    const kept = (await leasesOf(state, "--all")).find(({ id }) => id === ended?.["lease"]);
    expect(kept).toMatchObject({ state: "released", endReason: "shutdown" });
    expect(processesNaming(state)).toEqual([]);
    expect(existsSync(join(state, "control.sock"))).toBe(false);
    expect(readdirSync(join(state, "w", "u")).filter((name) => name.startsWith("mcp-"))).toEqual([]);
  });

  it("answers a call that runs when it is told to end, with how it ended", async () => {
    const { args } = place();
    const served = await serve(args);
    const running = await fetch(`${served.url}/v1/execute`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/x-ndjson" },
      body: JSON.stringify({ code: tellingEndless }),
    });
    const told: string[] = [];
    let ended: Promise<number | null> | undefined;
    for await (const text of running.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      told.push(text);
      if (text.includes("on")) ended ??= served.kill("SIGTERM");
    }
    expect(await ended).toBe(0);
    expect(told.join("").trim().split("\n").at(-1)).toMatch(/"status":"(interrupted|dead)"/);
  });

  it("is known by the names of allowedHosts, and by no others", async () => {
    const { args } = place([...unconfined, "allowedHosts: [sandbox.example]"]);
    const served = await serve(args);
    const named = (headers: Readonly<Record<string, string>>): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        get(`${served.url}/v1/sessions/session`, { headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        }).on("error", reject);
      });
    expect(await named({ host: "sandbox.example" })).toBe(200);
    expect(await named({ host: "other.example" })).toBe(403);
    expect(await named({ host: "sandbox.example", origin: "https://sandbox.example" })).toBe(200);
    expect(await named({ host: "sandbox.example", origin: "https://other.example" })).toBe(403);
    await served.kill("SIGTERM");
  });

  it("keeps its state for its user alone", async () => {
    const { state, args } = place();
    const served = await serve(args);
    const mode = (name: string): string => (statSync(join(state, name)).mode & 0o777).toString(8);
    expect([mode("."), mode("audit"), mode("uploads"), mode("w")]).toEqual(["700", "700", "700", "700"]);
    expect([mode("leases.db"), mode("control.sock"), mode("format.json")]).toEqual(["600", "600", "600"]);
    await served.kill("SIGTERM");
  });

  it("is alone with a state folder: a second one is refused and leaves no trace", async () => {
    const { state, args } = place();
    const served = await serve(args);
    const logs = readdirSync(join(state, "audit"));
    const second = await shipyard(["serve", "--http", "127.0.0.1:0", ...args]);
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`by process ${served.pid} on`) });
    expect(readdirSync(join(state, "audit"))).toEqual(logs);
    expect(await run(served, "1")).toMatchObject({ stdout: "1" });
    await served.kill("SIGTERM");
  });

  it("gives code a folder of its host, which stays", async () => {
    const { folder, args } = place();
    const uploads = join(folder, "up");
    const served = await serve([...args, "--uploads", uploads]);
    await run(served, `open(${JSON.stringify(join(uploads, "x.txt"))}, "w").write("kept")`);
    await served.kill("SIGTERM");
    expect(readFileSync(join(uploads, "x.txt"), "utf8")).toBe("kept");
  });

  it("ends what a killed one has left, before it listens", async () => {
    const { state, args } = place();
    const served = await serve(args);
    await startSession(served, "orphan");
    const [lease] = await owned(state);
    await served.kill("SIGKILL");
    const next = await serve(args);
    const ended = (await leasesOf(state, "--all")).find(({ id }) => id === lease?.id);
    expect(ended).toMatchObject({ owner: "local", state: expect.stringMatching(/^(released|lost)$/) });
    expect(await owned(state)).toEqual([]);
    await next.kill("SIGTERM");
    expect(processesNaming(state)).toEqual([]);
  });

  it("refuses an address that others can reach, unless somebody keeps strangers out", async () => {
    const { args } = place();
    for (const address of ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"]) {
      const refused = await shipyard(["serve", "--http", address, ...args]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("no authentication is configured") });
    }
    for (const address of ["8222", ":8222", "127.0.0.1:", "127.0.0.1:99999", "::1:0", "http://127.0.0.1:1"]) {
      const refused = await shipyard(["serve", "--http", address, ...args]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("HOST:PORT") });
    }
  });

  it("fails with 1 when the port is taken, and gives the state folder back", async () => {
    const { args } = place();
    const served = await serve(args);
    const other = place();
    const taken = await shipyard(["serve", ...other.args, "--http", new URL(served.url).host]);
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot listen on 127.0.0.1:") });
    expect(taken.stderr).toContain("port 0 any that is free");
    await served.kill("SIGTERM");
    const again = await serve(other.args);
    await again.kill("SIGTERM");
  });
});

describe("principals", { timeout }, () => {
  it("come with a token, and see nothing of each other", async () => {
    const folder = scratchFolder();
    const tokens = join(folder, "tokens.jsonl");
    const [ada, bob] = [await tokenHeaders("ada", tokens), await tokenHeaders("Bob B.", tokens)];
    const config = writeConfig(folder, [...unconfined, `auth: { tokenFile: ${tokens}, operators: [ada] }`]);
    const served = await serve(["--config", config, "--state", join(folder, "s")]);
    const code = "import os; os.listdir(os.environ.get('UPLOADS', '.'))";
    expect((await ask(`${served.url}/execute`, { code })).status).toBe(401);
    expect((await ask(`${served.url}/v1/sessions/session`, { session_id: "s" }, ada)).status).toBe(201);
    expect((await ask(`${served.url}/v1/sessions/session`, { session_id: "s" }, bob)).status).toBe(201);
    const listed = await ask(`${served.url}/v1/sessions/session`, undefined, bob);
    expect(listed.body).toMatchObject({ sessions: [{ session_id: "s" }] });
    const uploads = readdirSync(join(folder, "s", "uploads")).sort();
    expect(uploads).toEqual(["ada", expect.stringMatching(/^~[0-9a-f]{32}$/)]);
    await served.kill("SIGTERM");
  });

  it("need a token file that only its owner writes", async () => {
    const folder = scratchFolder();
    const config = writeConfig(folder, [...unconfined, `auth: { tokenFile: ${folder}/none.jsonl }`]);
    const refused = await shipyard([
      "serve",
      "--config",
      config,
      "--state",
      join(folder, "s"),
      "--http",
      "127.0.0.1:0",
    ]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("berth-shipyard token NAME") });
  });
});
