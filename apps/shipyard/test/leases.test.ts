import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { entriesOf, leasesOf, owned, place, startSession } from "./places.js";
import { processesNaming } from "./remains.js";
import { ask, scratchFolder, serve, shipyard } from "./shipyard.js";

const verifier = fileURLToPath(new URL("../../../fixtures/audit/verify_chain.py", import.meta.url));

/** Each test starts commands, up to nine of them, and each start takes seconds where many others want to run. */
const timeout = 120_000;

describe("leases release and sweep", { timeout }, () => {
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
    expect(unknown.stderr).toContain("leases list --all");
    expect((await shipyard(["leases", "list", "--state", state])).stderr).toBe("");
    await served.kill("SIGTERM");
  });

  it("take the writer's lock when the server was killed", async () => {
    const { state, args } = place();
    const served = await serve(args);
    await startSession(served, "a");
    await startSession(served, "b");
    await served.kill("SIGKILL");
    const listed = await shipyard(["leases", "list", "--state", state]);
    expect(listed.stdout).toMatch(/active +local +a +python +unconfined/);
    expect(listed.stderr).toContain("no server runs");
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
    const openings = entriesOf(state).filter(({ type }) => type === "session.open");
    expect(openings.map(({ mode, provider }) => [mode, provider]).sort()).toEqual([
      ["leases release", undefined],
      ["leases sweep", undefined],
      ["serve", "unconfined"],
    ]);
  });

  it("are wrong usage where no state is", async () => {
    const folder = scratchFolder();
    for (const args of [["list"], ["sweep"], ["release", "x"]]) {
      const { code, stderr } = await shipyard(["leases", ...args, "--state", join(folder, "none")]);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("is no state folder") });
    }
  });
});

describe("the audit log of a server", { timeout }, () => {
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
