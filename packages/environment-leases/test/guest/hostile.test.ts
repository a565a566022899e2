import { once } from "node:events";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { manageSandboxes } from "../../src/bubblewrap/manage-sandboxes.js";
import type { DisposableEnvironment, GuestLimits } from "../../src/index.js";
import { bubblewrap, openProvider, type ProviderKind, report, text, workerName } from "./provider-kinds.js";

const test = partTest("bubblewrap", "python3");

async function withEnvironment(
  limits: GuestLimits,
  run: (environment: DisposableEnvironment) => Promise<void>,
): Promise<void> {
  await using opened = await openProvider(bubblewrap, limits);
  await using environment = await opened.provider.create(workerName(), bubblewrap.profile(), { deadlineMs: 60_000 });
  await run(environment);
}

const knock = (count: number, more: string): readonly string[] => [
  "python3",
  "-c",
  `
import os, socket, time
held = []
for _ in range(${count}):
    one = socket.socket(socket.AF_UNIX)
    one.connect("/run/berth/dial.sock")
    ${more}
    held.append(one)
print("done", flush=True)
time.sleep(1000)
`,
];

describe("code inside that knows how its host is reached", () => {
  test("ends its environment when it guesses tokens", () =>
    withEnvironment({ maxRefusedStreams: 200 }, async (environment) => {
      const guessing = environment.run(knock(10_000, "one.sendall(os.urandom(16).hex().encode()); one.close()"));
      await expect(guessing).rejects.toMatchObject({ code: "ENVIRONMENT_ENDED" });
      expect(await environment.ended).toMatchObject({
        reason: "unknown",
        detail: expect.stringContaining("wrong streams"),
      });
    }));

  // Were silent streams held for longer than their own limit, nothing would answer within the other one, which a busy machine needs for an interpreter to start.
  test("holds up no more than its own environment with silent streams, and not for long", () =>
    withEnvironment({ streamTimeoutMs: 300, startTimeoutMs: 10_000 }, async (environment) => {
      await using silent = await environment.open(knock(32, "pass"));
      await once(silent.stream, "data");
      await environment.run(["true"]).catch(() => {});
      const after = await environment.run(["echo", "again"]);
      expect(text(after.stdout)).toBe("again\n");
    }));

  test("cannot see the streams of others: they are on no path, and tokens are on nobody's command line", () =>
    withEnvironment({}, async (environment) => {
      await using cat = await environment.open(["cat"]);
      const look = await environment.run(["sh", "-c", "cat /proc/1/cmdline /proc/1/environ; ls /run/berth; env"]);
      expect(text(look.stdout)).not.toMatch(/[0-9a-f]{32}/);
      cat.stream.end();
    }));

  test("is not waited for when it reads nothing and writes without end", () =>
    withEnvironment({ maxOutputBytes: 100 }, async (environment) => {
      const writes = environment.run(["sh", "-c", "yes | cat"], { timeoutMs: 500, stdin: Buffer.alloc(8_000_000) });
      await expect(writes).rejects.toMatchObject({ code: "COMMAND_TIMEOUT" });
      expect((await environment.run(["true"])).exitCode).toBe(0);
    }));

  test("is held up by a reader that does not read, and the host's memory is not filled", () =>
    withEnvironment({}, async (environment) => {
      await using yes = await environment.open(["sh", "-c", "head -c 100000000 /dev/zero"]);
      await once(yes.stream, "readable");
      await environment.run(["sleep", "0.3"]);
      expect(yes.stream.readableLength).toBeLessThan(1_000_000);
    }));

  test("takes all its processes with it, however they hid", () =>
    withEnvironment({}, async (environment) => {
      const hide =
        "for n in 1 2 3; do setsid sh -c 'trap \"\" TERM HUP INT; (sleep 1000 &) ; sleep 1000' & done; echo up; wait";
      await using hidden = await environment.open(["sh", "-c", hide]);
      await once(hidden.stream, "data");
      await environment.close();
      expect(await environment.ended).toMatchObject({ reason: "closed" });
    }));
});

describe("an environment with an allow list", () => {
  const allowing: ProviderKind = { ...bubblewrap };

  test("reaches the proxy by its loopback alone, and what the proxy decides is told with the worker's name", async () => {
    const told: unknown[] = [];
    await using opened = await openProvider({
      ...allowing,
      open: (folder) =>
        manageSandboxes(
          { folder, onEgressDecision: (worker, { host, port, outcome }) => told.push([worker, host, port, outcome]) },
          report,
        ),
    });
    const name = workerName();
    const profile = bubblewrap.profile({
      network: "allowlist",
      allowedHosts: ["allowed.invalid", "ported.invalid:8443"],
    });
    await using environment = await opened.provider.create(name, profile, { deadlineMs: 60_000 });
    const fetch = `
import sys, urllib.request
for url in sys.argv[1:]:
    try: urllib.request.urlopen(url, timeout=20)
    except Exception as error: print(getattr(error, "code", None) or error)
`;
    const urls = ["http://refused.example/", "http://allowed.invalid/", "http://ported.invalid/"];
    const fetched = await environment.run(["python3", "-c", fetch, ...urls]);
    expect(text(fetched.stdout).split("\n")[0]).toBe("403");
    expect(told).toEqual([
      [name, "refused.example", 80, "refused"],
      [name, "allowed.invalid", 80, "failed"],
      [name, "ported.invalid", 80, "refused"],
    ]);
    const direct = "import socket; socket.create_connection(('192.0.2.1', 80), 2)";
    expect(text((await environment.run(["python3", "-c", direct])).stderr)).toContain("unreachable");
  });
});
