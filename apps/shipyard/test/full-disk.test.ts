import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { openMcp } from "./http/support/mcp-client.js";
import { entriesOf, place } from "./places.js";
import { ask, bin, plainEnvironment } from "./shipyard.js";

const kib = 1_024;
const inUse = ["provider: unconfined", "sessions: { warmWorkers: 0 }", "audit: { durability: each }"];

/** A server whose state folder is a disk of its own, small enough to be filled from here. */
async function onSmallDisk() {
  const { folder, state, args } = place(inUse);
  mkdirSync(state);
  const uploads = join(folder, "up");
  const inside = `mount -t tmpfs -o size=4m,mode=700 tmpfs '${state}' && exec "$@"`;
  const command = [process.execPath, bin, "serve", "--http", "127.0.0.1:0", ...args, "--uploads", uploads];
  const child = spawn("unshare", ["--mount", ...propagation(), "sh", "-c", inside, "sh", ...command], {
    env: plainEnvironment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const closed = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      const found = /"event":"listening","url":"(.*)\/mcp"/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    void closed.then(([code]) => reject(new Error(`ended with ${code}: ${said}`)));
  });
  const end = async (): Promise<unknown> => {
    child.kill("SIGTERM");
    const [code] = await closed;
    return code;
  };
  const seen = join(`/proc/${child.pid}/root`, state);
  const filler = join(seen, "filler");
  const fill = (): void => {
    // Ever smaller pieces, until not one byte more has room.
    for (const bytes of [64 * kib, 4 * kib, 1]) {
      const taken = { flag: "a" };
      try {
        for (;;) writeFileSync(filler, Buffer.alloc(bytes), taken);
      } catch (error) {
        expect(error).toMatchObject({ code: "ENOSPC" });
      }
    }
  };
  return { url, said: () => said, end, state: seen, uploads, fill, clear: () => rmSync(filler) };
}

/** Where / is no mount point, as in a bare chroot, unshare cannot make it private, and there is no need to. */
function propagation(): readonly string[] {
  return spawnSync("unshare", ["--mount", "true"]).status === 0 ? [] : ["--propagation", "unchanged"];
}

type Answer = Awaited<ReturnType<typeof ask>>;

/** Calls the session, each time after the answer before, for at most so long. */
async function callUntil(url: string, code: string, isThere: (answer: Answer) => boolean): Promise<Answer> {
  const over = AbortSignal.timeout(30_000);
  for (;;) {
    const answer = await ask(`${url}/v1/sessions/kept/execute`, { code });
    if (isThere(answer) || over.aborted) return answer;
  }
}

partTest("ordinary-user", "util-linux")(
  "a full disk refuses code and sessions on every door with 503 and the way out, runs nothing, and works again once there is room",
  async () => {
    const { url, said, end, state, uploads, fill, clear } = await onSmallDisk();
    const mcp = await openMcp({ send: (path, init) => fetch(`${url}${path}`, init) });
    expect((await ask(`${url}/v1/sessions`, { session_id: "kept" })).status).toBe(201);
    fill();
    const ran = join(uploads, "ran");
    const code = `open(${JSON.stringify(ran)}, "w")`;
    const cure = expect.stringContaining("makes room where its state folder lies");
    // The last page of the log's file has room for some more.
    const before = await callUntil(url, "1", ({ status }) => status === 503);
    expect(before.status).toBe(503);

    const inSession = await ask(`${url}/v1/sessions/kept/execute`, { code });
    expect(inSession).toEqual({ status: 503, body: { error: expect.any(String), code: "AUDIT_UNAVAILABLE", cure } });
    const original = await ask(`${url}/execute`, { code, session_id: "kept" });
    expect(original).toMatchObject({
      status: 503,
      body: { stdout: "", stderr: expect.stringMatching(/^Error: .*makes room/) },
    });
    const fresh = await ask(`${url}/v1/execute`, { code });
    expect(fresh).toMatchObject({ status: 503, body: { cure: expect.any(String) } });
    const started = await ask(`${url}/v1/sessions`, { session_id: "late" });
    expect(started).toMatchObject({ status: 503, body: { cure: expect.any(String) } });
    const called = await mcp.call("execute_python_code", { command: code, session_id: "kept" });
    expect(called.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("makes room") }] });
    expect(existsSync(ran)).toBe(false);
    expect(said()).toContain("the audit log takes no entries");

    clear();
    // As README says: a second later at most. Asked again until then, as `Retry-After` says.
    const again = await callUntil(url, code, ({ status }) => status !== 503);
    expect(again.status).toBe(200);
    expect(existsSync(ran)).toBe(true);
    expect((await ask(`${url}/v1/sessions`, { session_id: "late" })).status).toBe(201);
    expect(said()).toContain("the audit log takes entries again");
    const digests = entriesOf(state).filter(
      ({ type, codeBytes }) => type === "command.intent" && codeBytes === code.length,
    );
    expect(digests.length).toBe(1);
    expect(await end()).toBe(0);
  },
  120_000,
);
