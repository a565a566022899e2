import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, vi } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { kinds, openProvider } from "./provider-kinds.js";

const program = fileURLToPath(new URL("./programs/host.mjs", import.meta.url));

interface Maker {
  readonly pid: number;
  readonly startTime: string;
}

function makerOf(pid: number): Maker {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return { pid, startTime: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "" };
}

async function deadMaker(): Promise<Maker> {
  const child = spawn("sleep", ["600"]);
  const maker = makerOf(child.pid ?? 0);
  child.kill("SIGKILL");
  await once(child, "exit");
  return maker;
}

const ownNamespace = readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "");
const ownBoot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim().replaceAll("-", "");

const draftOf = ({ pid, startTime }: Maker, { namespace = ownNamespace, boot = ownBoot } = {}): string =>
  `new-${pid}-${startTime}-${namespace}-${boot}-${"a".repeat(12)}`;

describe.each(kinds)("half compiled agents in the folder of a $name provider", (kind) => {
  const test = partTest(...kind.parts);

  test("are removed at its start when their maker is dead, and never those of a living one", async () => {
    const self = makerOf(process.pid);
    const dead = await deadMaker();
    const removed = [
      draftOf(dead),
      draftOf({ ...self, startTime: `${self.startTime}0` }), // another process got the number
      draftOf(self, { boot: "0".repeat(32) }),
    ];
    const kept = [draftOf(self), draftOf(dead, { namespace: "1" }), "new-by-hand", "0123456789abcdef"];
    await using opened = await openProvider(kind);
    for (const name of [...removed, ...kept]) mkdirSync(`${opened.folder}/guest/${name}/inner`, { recursive: true });
    const next = await kind.open(opened.folder);
    await next.close();
    expect(readdirSync(`${opened.folder}/guest`).sort()).toEqual(kept.sort());
  });

  test("of a host that was killed while it compiled are removed by the next one", async () => {
    await using opened = await openProvider(kind);
    const guest = `${opened.folder}/guest`;
    const drafts = (): readonly string[] => names(guest).filter((name) => name.startsWith("new-"));
    // A host may have compiled all before it is seen to begin: then another one, from the start.
    await vi.waitFor(
      async () => {
        rmSync(guest, { recursive: true, force: true });
        const host = spawn(process.execPath, [program, kind.name, opened.folder, "1"], { stdio: "ignore" });
        onTestFinished(() => void host.kill("SIGKILL"));
        await vi.waitFor(() => expect(names(guest)).not.toEqual([]), { timeout: 20_000, interval: 1 });
        host.kill("SIGKILL");
        await once(host, "exit");
        expect(drafts().length).toBeGreaterThan(0);
      },
      { timeout: 50_000, interval: 1 },
    );
    const next = await kind.open(opened.folder);
    await Promise.all((await next.listWorkers()).map((worker) => next.destroy(worker)));
    await next.close();
    expect(drafts()).toEqual([]);
  }, 60_000);
});

function names(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
