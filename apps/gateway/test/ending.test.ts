import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { bin, gateway, logEntries, plainEnvironment, small, type Workplace, workplace } from "./gateway.js";

/** A gateway with its server running; `servers` are the processes that it has started. */
async function started(place: Workplace) {
  const args = [bin, "serve", "--catalog", place.catalog, "--state", place.state, "--stdio"];
  const child = spawn(process.execPath, args, { env: plainEnvironment, stdio: ["pipe", "pipe", "pipe"] });
  child.stderr.resume();
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (message: Record<string, unknown>): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    return "id" in message ? JSON.parse((await lines.next()).value) : undefined;
  };
  await ask({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  });
  await ask({ method: "notifications/initialized" });
  await ask({ id: 2, method: "tools/call", params: { name: "one__echo", arguments: {} } });
  return { child, ended: once(child, "exit") };
}

async function prepared(place: Workplace): Promise<void> {
  await place.writeCatalog({ one: small(place) });
  await gateway(["pin", "--catalog", place.catalog, "--state", place.state, "--yes"]);
}

/** Processes whose command line names this test's folder. */
async function processesOf(place: Workplace): Promise<string[]> {
  const found = await Promise.all(
    (await readdir("/proc"))
      .filter((name) => /^\d+$/u.test(name))
      .map(async (pid) => {
        const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
        return line.includes(place.folder) ? [pid] : [];
      }),
  );
  return found.flat();
}

describe.runIf(existsSync("/proc/self"))("the end of a gateway", { timeout: 60_000 }, () => {
  it.each([
    {
      name: "the end of its input",
      end: ({ child }: Awaited<ReturnType<typeof started>>) => child.stdin.end(),
      reason: "CLIENT_CLOSED",
    },
    ...(["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => ({
      name: signal,
      end: ({ child }: Awaited<ReturnType<typeof started>>) => child.kill(signal),
      reason: `${signal}`,
    })),
  ])("by $name leaves no process and a closed log, with exit code 0", async ({ end, reason }) => {
    await using place = await workplace();
    await prepared(place);
    const gate = await started(place);
    expect((await processesOf(place)).length).toBeGreaterThan(1);
    end(gate);
    expect((await gate.ended)[0]).toBe(0);
    expect(await processesOf(place)).toEqual([]);
    const entries = await logEntries(place.state);
    expect(entries.at(-1)).toMatchObject({ type: "session.close", reason });
    expect(entries.at(-2)).toMatchObject({ type: "child.exit", server: "one" });
    expect(await readdir(`${place.state}/children`)).toEqual([]);
  });

  it("by SIGKILL leaves a log that verifies and says what is missing, and no server", async () => {
    await using place = await workplace();
    await prepared(place);
    const gate = await started(place);
    gate.child.kill("SIGKILL");
    await gate.ended;
    // The next gateway of this state folder ends whatever slipped through.
    const next = await started(place);
    next.child.stdin.end();
    await next.ended;
    expect(await processesOf(place)).toEqual([]);
    const { code, stdout } = await gateway(["audit", "verify", "--state", place.state, "--json"]);
    const { ok, notices } = JSON.parse(stdout);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(notices.map((notice: { code: string }) => notice.code)).toContain("SESSION_UNCLOSED");
  });
});
