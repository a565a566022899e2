import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entriesOf, owned, place, startSession } from "./places.js";
import { ask, scratchFolder, serve, shipyard } from "./shipyard.js";

type Printed = Readonly<Record<string, unknown>>;

/** What `audit tail --json` prints. */
async function tail(state: string, ...more: readonly string[]): Promise<readonly Printed[]> {
  const { code, stdout, stderr } = await shipyard(["audit", "tail", "--state", state, "--json", ...more]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

describe("audit tail", () => {
  it("tells after a crash what ran in a session, by its name, its lease and its owner", async () => {
    const { state, args } = place();
    const served = await serve(args);
    await startSession(served, "one");
    await startSession(served, "other");
    await ask(`${served.url}/execute`, { code: "1 + 1", session_id: "one" });
    await ask(`${served.url}/execute`, { code: "2 + 2", session_id: "other" });
    const lease = (await owned(state)).find(({ labels }) => labels["session"] === "one")?.id ?? "";
    await served.kill("SIGKILL");

    const whole = await tail(state);
    expect(whole.length).toBe(entriesOf(state).length);
    const ofSession = await tail(state, "--session", "one");
    expect(ofSession).toEqual(await tail(state, "--lease", lease));
    expect(ofSession.every((entry) => entry["lease"] === lease)).toBe(true);
    const [run] = ofSession.filter(({ operation, type }) => operation === "execute" && type === "command.intent");
    expect(run).toMatchObject({ name: "one", codeBytes: 5 });
    expect(ofSession.find(({ intent }) => intent === run?.["seq"])).toMatchObject({ outcome: "ok" });
    const ofOwner = await tail(state, "--owner", "local");
    expect(new Set(ofOwner.map(({ name }) => name))).toEqual(new Set([undefined, "one", "other"]));
    expect(await tail(state, "--owner", "local", "--session", "nobody's")).toEqual([]);
    expect(await tail(state, "--owner", "somebody")).toEqual([]);
  });

  it("shows people as many lines as they want, oldest first", async () => {
    const { state, args } = place();
    await (await serve(args)).kill("SIGTERM");
    const { code, stdout } = await shipyard(["audit", "tail", "--state", state, "-n", "1"]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\S+Z {2}#\d+ +session\.close .*SIGTERM\n$/),
    });
    const all = await shipyard(["audit", "tail", "--state", state, "--lines", "all"]);
    expect(all.stdout).toMatch(/^\S+Z {2}#1 +session\.open .*mode=serve/);
    for (const lines of ["0", "1.5", "many"]) {
      expect(await shipyard(["audit", "tail", "--state", state, "--lines", lines])).toMatchObject({ code: 2 });
    }
  });
});

describe("audit verify", () => {
  it("is 0 for whole logs, and 1 for a changed byte, which tail tells too", async () => {
    const { state, args } = place();
    await (await serve(args)).kill("SIGTERM");
    const good = await shipyard(["audit", "verify", "--state", state, "--json"]);
    expect({ code: good.code, report: JSON.parse(good.stdout) }).toMatchObject({ code: 0, report: { ok: true } });
    const [log = ""] = readdirSync(join(state, "audit"));
    const [segment = ""] = readdirSync(join(state, "audit", log)).filter((name) => name.endsWith(".jsonl"));
    const path = join(state, "audit", log, segment);
    writeFileSync(path, readFileSync(path, "utf8").replace('"mode":"serve"', '"mode":"swerve"'));
    const bad = await shipyard(["audit", "verify", "--state", state]);
    expect(bad).toMatchObject({ code: 1, stdout: expect.stringContaining("NOT verified") });
    appendFileSync(path, "no entry\n");
    const told = await shipyard(["audit", "tail", "--state", state]);
    expect(told).toMatchObject({ code: 1, stderr: expect.stringContaining("berth-shipyard audit verify") });
  });

  it("is wrong usage where no state is", async () => {
    const none = join(scratchFolder(), "none");
    for (const command of ["tail", "verify"]) {
      expect(await shipyard(["audit", command, "--state", none])).toMatchObject({ code: 2 });
    }
  });
});
