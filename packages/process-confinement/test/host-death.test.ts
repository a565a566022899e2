import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { partTest } from "../../../fixtures/parts.js";
import { endSandbox, findSandbox, type SandboxIdentity } from "../src/index.js";
import { recordedControlGroups } from "../src/limits/control-groups.js";
import { scratchFolder } from "./disk-watch/trees.js";
import { freezerVersions, withOnly } from "./limits/freezers.js";
import { groupsTest } from "./limits/groups-test.js";
import { uniqueName } from "./sandboxes.js";

const itInside = partTest("bubblewrap");
const program = fileURLToPath(new URL("programs/host.mjs", import.meta.url));

interface Host {
  readonly token: string;
  /** Everything that it has said. */
  readonly said: readonly string[];
  /** Waits until it has said so many lines. */
  until(lines: number): Promise<void>;
  kill(): Promise<void>;
  /** Resolves when it stands still. */
  stop(): Promise<void>;
}

const hosts: ChildProcess[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.kill("SIGKILL");
});

function startHost(handshake: string, policy: object, before: readonly string[] = []): Host {
  const token = randomUUID();
  const host = [process.execPath, program, uniqueName(), token, handshake, JSON.stringify(policy)];
  const [file = "", ...args] = [...before, ...host];
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
  hosts.push(child);
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => void said.push(line));
  return {
    token,
    said,
    until: async (count) => {
      while (said.length < count) await once(lines, "line", { signal: AbortSignal.timeout(20_000) });
    },
    kill: async () => {
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
    },
    stop: async () => {
      child.kill("SIGSTOP");
      const state = () => /\) (\w) /.exec(readFileSync(`/proc/${child.pid}/stat`, "utf8"))?.[1];
      await expect.poll(state, { timeout: 20_000 }).toBe("T");
    },
  };
}

/** The processes that bear the token in arguments or environment. */
function bearersOf(token: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    return ["cmdline", "environ"].some((name) => readOr(`/proc/${pid}/${name}`).includes(token));
  });
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // it ended
  }
}

/** They are nobody's children any more: of their end there is no event. */
async function untilNoneBears(token: string): Promise<void> {
  await expect.poll(() => bearersOf(token), { timeout: 5_000, interval: 5 }).toEqual([]);
}

describe.each([
  { handshake: "shell", policy: {} },
  { handshake: "command", policy: {} },
])("the death of the host (handshake $handshake)", ({ handshake, policy }) => {
  const kills = scaledCount(`hosts killed under handshake ${handshake}`, 1_600);
  itInside(
    `leaves nothing at any moment of the start (${kills} hosts)`,
    async () => {
      const longestMs = 1.3 * (await startMs(handshake, policy));
      let recorded = 0;
      for (let n = 0; n < kills; n++) {
        const host = startHost(handshake, policy);
        await host.until(1);
        await pause(Math.random() * longestMs); // the moment is what is tested
        await host.kill();
        await untilNoneBears(host.token);
        if (host.said.length > 1) recorded++;
      }
      console.log(`killed within ${Math.round(longestMs)} ms of the spawn; ${recorded} of ${kills} were recorded`);
    },
    900_000,
  );

  itInside("takes the whole family along, also those that left the session", async () => {
    const host = startHost(handshake, policy);
    await host.until(4);
    // The host, the outer bubblewrap, process 1, the command, and its three.
    expect(bearersOf(host.token).length).toBeGreaterThanOrEqual(7);
    await host.kill();
    await untilNoneBears(host.token);
  });
});

describe("the record of a dead host", () => {
  itInside("leads to its sandbox, which is gone, and to what is left of its control groups", async () => {
    const host = startHost("shell", process.getuid?.() === 0 ? { limits: { processes: 30 } } : {});
    await host.until(3);
    const identity: SandboxIdentity = JSON.parse(host.said[1] ?? "");
    expect(findSandbox(identity)).toBe("running");
    await host.kill();
    await untilNoneBears(host.token);
    expect(await endSandbox(identity)).toBe("gone");
    for (const group of identity.controlGroups) expect(() => readdirSync(group)).toThrow("ENOENT");
  });
});

describe.each(freezerVersions.map((version) => ({ version })))(
  "a sandbox that stands still (control groups of version $version)",
  ({ version }) => {
    /** As the watch of its host holds it, in the moment in which the host is killed or stopped. */
    const frozen = async (): Promise<{ host: Host; identity: SandboxIdentity }> => {
      const source = scratchFolder();
      const policy = { workspace: { kind: "folder", source }, limits: { diskBytes: 2 ** 30, processes: 30 } };
      const host = startHost("shell", policy, withOnly(version));
      await host.until(4);
      const identity: SandboxIdentity = JSON.parse(host.said[1] ?? "");
      const { freezer } = recordedControlGroups(identity.controlGroups, identity.name);
      expect(freezer?.thawFile === undefined).toBe(version === 2);
      // Its own watch would let it go again.
      await host.stop();
      expect(await freezer?.freeze(5_000, AbortSignal.timeout(20_000))).toBe(true);
      return { host, identity };
    };

    groupsTest("ends with its host, and leads by its record to empty control groups", async () => {
      const { host, identity } = await frozen();
      await host.kill();
      await untilNoneBears(host.token);
      expect(await endSandbox(identity)).toBe("gone");
      for (const group of identity.controlGroups) expect(() => readdirSync(group)).toThrow("ENOENT");
    });

    groupsTest("is ended by another host while its own is stopped", async () => {
      const { host, identity } = await frozen();
      expect(findSandbox(identity)).toBe("running");
      expect(await endSandbox(identity)).toBe("gone");
      await host.kill();
      await untilNoneBears(host.token);
    });
  },
);

/** How long a start takes here and now, from the call of `openSandbox` until the command runs. */
async function startMs(handshake: string, policy: object): Promise<number> {
  const host = startHost(handshake, policy);
  await host.until(1);
  const begun = performance.now();
  await host.until(3);
  const tookMs = performance.now() - begun;
  await host.kill();
  await untilNoneBears(host.token);
  return tookMs;
}
