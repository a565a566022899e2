import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBubblewrapProvider, type EnvironmentLimits, type EnvironmentProfile } from "@berth/environment-leases";
import { describe, expect, onTestFinished } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { openRealSessions, type RealSessions } from "./guests/real-sessions.js";

const open = (asked: EnvironmentLimits = {}, mounts: EnvironmentProfile["mounts"] = []): Promise<RealSessions> =>
  openRealSessions((folder) => createBubblewrapProvider({ folder }), { policy: { limits: asked }, mounts });

describe("sessions over sandboxes", () => {
  partTest("bubblewrap")("run code with its files in memory, and leave nothing when they are stopped", async () => {
    const { sessions, leases, provider, faults } = await open();
    const session = await sessions.start({ owner: "alice", id: "s" });
    const told = await session.execute({
      code: "import os, subprocess\nopen('f', 'w').write('text')\nprint(subprocess.run(['cat', 'f'], capture_output=True, text=True).stdout)\nos.getcwd()",
    });
    expect(told).toMatchObject({
      status: "ok",
      result: "'/workspace'",
      stdout: { text: "text\n" },
      stderr: { text: "" },
    });
    expect(Buffer.from(await session.files.read("f")).toString()).toBe("text");
    expect(session.status()).toMatchObject({ isolated: true, state: "active" });
    await session.stop();
    await sessions.close();
    await leases.close();
    expect(await provider.listWorkers()).toEqual([]);
    expect(faults).toEqual([]);
  });

  partTest("bubblewrap")("end for want of memory, at once, and say so", async (context) => {
    const { sessions } = await open({ memoryBytes: 96 * 2 ** 20 });
    const session = await sessions.start({ owner: "alice", id: "s" }).catch((error: unknown) => {
      // Without a control group that may be written no such limit is held; the refusal is tested with the leases.
      if (String(error).includes("memoryBytes")) return undefined;
      throw error;
    });
    if (session === undefined) return context.skip("memory cannot be limited here");
    const told = await session.execute({ code: "held = []\nwhile True: held.append(bytearray(1 << 22))" });
    expect(told.status).toBe("dead");
    expect(told.reason).toContain("memory");
    expect(sessions.status("alice", "s")).toMatchObject({ state: "dead", end: { reason: "memory" } });
    expect(sessions.list("alice")).toEqual([]);
  });

  partTest("bubblewrap")("end over the quota of a folder that they may write, and say so", async () => {
    const source = await mkdtemp(join(tmpdir(), "berth-quota-"));
    onTestFinished(() => rm(source, { recursive: true }));
    const shared = { source, target: "/shared", writable: true, maxBytes: 2 ** 20 };
    const { sessions } = await open({}, [shared]);
    const session = await sessions.start({ owner: "alice", id: "s" });
    // The sleep is only to be there when the quota is: that ends it.
    const code = "import time\nwith open('/shared/large', 'wb') as f: f.write(bytes(1 << 22))\ntime.sleep(50)";
    const told = await session.execute({ code });
    expect(told).toMatchObject({ status: "dead", reason: expect.stringContaining("maxBytes") });
    expect(sessions.status("alice", "s")).toMatchObject({ state: "dead", end: { reason: "disk" } });
    expect(sessions.list("alice")).toEqual([]);
  });

  partTest("bubblewrap")("say of a full workspace what helps, and go on", async () => {
    const { sessions } = await open({ workspaceBytes: 2 ** 20 });
    const session = await sessions.start({ owner: "alice", id: "s" });
    const full = { code: "FILE_REFUSED", message: expect.stringMatching(/full: remove files, .*workspaceBytes/) };
    await expect(session.files.write("large", new Uint8Array(2 ** 21))).rejects.toMatchObject(full);
    expect((await session.execute({ code: "1 + 1" })).result).toBe("2");
    await session.files.write("small", new Uint8Array(1_000));
  });

  partTest("bubblewrap")("see neither this machine's files nor the session beside them", async () => {
    const { sessions } = await open();
    const [one, two] = await Promise.all([sessions.start({ owner: "alice" }), sessions.start({ owner: "bob" })]);
    const place = join(process.cwd(), `.canary-${process.pid}`);
    const look = `import os\n[os.path.exists(p) for p in (${JSON.stringify(place)}, '/workspace/mine', '/tmp/mine', '/tmp')]`;
    await writeFile(place, "secret");
    try {
      await one.execute({ code: "open('mine', 'w').close(); open('/tmp/mine', 'w').close()" });
      expect((await two.execute({ code: look })).result).toBe("[False, False, False, True]");
      // The control: the one that made them sees them.
      expect((await one.execute({ code: look })).result).toBe("[False, True, True, True]");
    } finally {
      await rm(place);
    }
    const killed = await one.execute({
      code: "import os, signal\ntry: os.kill(-1, signal.SIGKILL)\nexcept ProcessLookupError: pass\nos.kill(os.getpid(), signal.SIGKILL)",
    });
    expect(killed.status).toBe("dead");
    expect((await two.execute({ code: "1 + 1" })).result).toBe("2");
  });
});
