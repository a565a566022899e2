import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { ask, type Served, scratchFolder, serve, shipyard, unconfined, writeConfig } from "./shipyard.js";

const verifier = fileURLToPath(new URL("../../../fixtures/audit/verify_chain.py", import.meta.url));

interface Place {
  readonly folder: string;
  readonly state: string;
  readonly config: string;
  readonly args: readonly string[];
}

function place(lines: readonly string[] = unconfined): Place {
  const folder = scratchFolder();
  const state = join(folder, "s");
  const config = writeConfig(folder, lines);
  return { folder, state, config, args: ["--config", config, "--state", state] };
}

const run = (served: Served, code: string): Promise<unknown> =>
  ask(`${served.url}/execute`, { code }).then(({ body }) => body);

const startSession = (served: Served, id: string): Promise<unknown> =>
  ask(`${served.url}/v1/sessions/session`, { session_id: id });

interface ListedLease {
  readonly id: string;
  readonly owner: string | null;
  readonly state: string;
  readonly endReason: string | null;
  readonly provider: string;
}

async function leasesOf(state: string, ...more: readonly string[]): Promise<readonly ListedLease[]> {
  const { code, stdout } = await shipyard(["leases", "list", "--state", state, "--json", ...more]);
  expect(code).toBe(0);
  return JSON.parse(stdout).leases;
}

const owned = async (state: string): Promise<readonly ListedLease[]> =>
  (await leasesOf(state)).filter(({ owner }) => owner !== null);

/** Processes of any kind that have a name of a worker's in their environment or arguments. */
function processesNaming(text: string): readonly string[] {
  const read = (path: string): string => {
    try {
      return readFileSync(path, "latin1");
    } catch {
      return ""; // gone meanwhile
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => `${read(`/proc/${pid}/environ`)}${read(`/proc/${pid}/cmdline`)}`.includes(text));
}

function entriesOf(state: string): readonly Readonly<Record<string, unknown>>[] {
  const logs = join(state, "audit");
  const files = readdirSync(logs).flatMap((log) => readdirSync(join(logs, log)).map((name) => join(logs, log, name)));
  return files
    .filter((path) => path.endsWith(".jsonl"))
    .flatMap((path) => readFileSync(path, "utf8").trim().split("\n"))
    .map((line) => JSON.parse(line).entry)
    .filter((entry) => entry !== undefined);
}

describe("serve", () => {
  it("says in one line that it listens, runs code, and ends with 0, with nothing left", async () => {
    const { state, args } = place();
    const served = await serve(args);
    expect(await ask(`${served.url}/health`, undefined)).toEqual({ status: 200, body: { status: "ok" } });
    expect(await run(served, "print(6 * 7)")).toMatchObject({ stdout: "42\n", stderr: "" });
    await startSession(served, "kept");
    expect(await served.kill("SIGTERM")).toBe(0);
    expect(await leasesOf(state)).toEqual([]);
    expect((await leasesOf(state, "--all")).length).toBeGreaterThanOrEqual(2);
    expect(processesNaming(state)).toEqual([]);
    expect(existsSync(join(state, "control.sock"))).toBe(false);
    expect(readdirSync(join(state, "w", "u")).filter((name) => name.startsWith("mcp-"))).toEqual([]);
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
    await served.kill("SIGTERM");
    const again = await serve(other.args);
    await again.kill("SIGTERM");
  });
});

describe("principals", () => {
  it("come with a token, and see nothing of each other", async () => {
    const folder = scratchFolder();
    const tokens = join(folder, "tokens.jsonl");
    const made = async (name: string): Promise<Record<string, string>> => {
      const { code, stdout } = await shipyard(["token", name, "--file", tokens]);
      expect(code).toBe(0);
      return { authorization: `Bearer ${stdout.trim()}` };
    };
    const [ada, bob] = [await made("ada"), await made("Bob B.")];
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

describe("leases release and sweep", () => {
  it("go through the running server, which tells the owner", async () => {
    const { state, args } = place();
    const served = await serve(args);
    await startSession(served, "a");
    const [lease] = await owned(state);
    const id = lease?.id ?? "";
    const released = await shipyard(["leases", "release", id, "--state", state, "--json"]);
    expect(JSON.parse(released.stdout)).toEqual({ released: [{ id, state: "released", reason: "operator" }] });
    expect(released.code).toBe(0);
    expect(await owned(state)).toEqual([]);
    expect(await ask(`${served.url}/v1/sessions/session`, undefined)).toMatchObject({ body: { sessions: [] } });
    const swept = await shipyard(["leases", "sweep", "--state", state, "--json"]);
    expect(swept.code).toBe(0);
    expect(JSON.parse(swept.stdout)).toMatchObject({ unconfirmed: 0 });
    const unknown = await shipyard(["leases", "release", "0".repeat(32), "--state", state]);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("there is no lease 000") });
    await served.kill("SIGTERM");
  });

  it("take the writer's lock when the server was killed", async () => {
    const { state, args } = place();
    const served = await serve(args);
    await startSession(served, "a");
    await startSession(served, "b");
    await served.kill("SIGKILL");
    const [first] = await owned(state);
    const released = await shipyard(["leases", "release", first?.id ?? "", "--state", state]);
    expect(released).toMatchObject({ code: 0, stdout: expect.stringContaining("released") });
    expect((await owned(state)).length).toBe(1);
    const swept = await shipyard(["leases", "sweep", "--state", state, "--json"]);
    expect({ code: swept.code, result: JSON.parse(swept.stdout) }).toMatchObject({
      code: 0,
      result: { unconfirmed: 0 },
    });
    expect(await leasesOf(state)).toEqual([]);
    expect(processesNaming(state)).toEqual([]);
    expect(entriesOf(state).map(({ mode }) => mode)).toEqual(
      expect.arrayContaining(["serve", "leases release", "leases sweep"]),
    );
  });

  it("are wrong usage where no state is", async () => {
    const folder = scratchFolder();
    for (const args of [["list"], ["sweep"], ["release", "x"]]) {
      const { code, stderr } = await shipyard(["leases", ...args, "--state", join(folder, "none")]);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("is no state folder") });
    }
  });
});

describe("the audit log of a server", () => {
  partTest("python3")("has every lease, command and end, and no payload, and verifies with foreign code", async () => {
    const { state, args } = place();
    const served = await serve(args);
    await startSession(served, "named");
    await ask(`${served.url}/execute`, {
      code: "print('s3cret-in')\nraise ValueError('s3cret-out')",
      session_id: "named",
    });
    await served.kill("SIGTERM");
    const logs = join(state, "audit");
    for (const log of readdirSync(logs)) {
      const { status, stdout } = spawnSync("python3", [verifier, join(logs, log)], { encoding: "utf8" });
      expect({ status, stdout }).toMatchObject({ status: 0 });
    }
    const entries = entriesOf(state);
    const [lease] = (await leasesOf(state, "--all")).filter(({ owner }) => owner !== null);
    const own = entries.filter((entry) => entry["lease"] === lease?.id);
    expect(own.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        ...["lease.reserved", "lease.active", "lease.session.started", "lease.session.ended", "lease.releasing"],
        ...["lease.released", "command.intent", "command.outcome"],
      ]),
    );
    const intent = own.find((entry) => entry["type"] === "command.intent" && entry["operation"] === "execute");
    const outcome = own.find((entry) => entry["type"] === "command.outcome" && entry["operation"] === "execute");
    expect(outcome).toMatchObject({ intent: intent?.["seq"], outcome: "error", stdoutBytes: 10, owner: "local" });
    expect(own.every((entry) => entry["provider"] === undefined || entry["isolated"] === false)).toBe(true);
    expect(JSON.stringify(entries)).not.toContain("s3cret");
    expect(entries.at(-1)).toMatchObject({ type: "session.close", reason: "SIGTERM" });
  });
});
