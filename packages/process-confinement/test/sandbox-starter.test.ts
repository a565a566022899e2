import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { childrenOf, isAlive, markProcess } from "../src/identity/process-identity.js";
import { createSandboxStarter, type SandboxOptions, type SandboxStarter } from "../src/index.js";
import { thisLimitsHost } from "../src/limits/limits-host.js";
import { thisHost } from "../src/start/host.js";
import { startLauncher } from "../src/start/launch.js";
import { createLauncherStock } from "../src/start/launcher-stock.js";
import { refuseHere } from "../src/start/refuse-here.js";
import { readAll, uniqueName } from "./sandboxes.js";

const itInside = partTest("bubblewrap");
const program = fileURLToPath(new URL("programs/starter-host.mjs", import.meta.url));
const bytes = "import sys; print([a.encode() for a in sys.argv[1:]])";
/** Every character that a line may have, and what a shell would do something with. */
const printable = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index));

const starters: SandboxStarter[] = [];
afterEach(async () => {
  for (const starter of starters.splice(0)) await starter.close();
});
function starterOfThisTest(): SandboxStarter {
  const starter = createSandboxStarter();
  starters.push(starter);
  return starter;
}

/** Opens one, and tells what it said and which process became its bubblewrap. */
async function say(starter: SandboxStarter, options: Partial<SandboxOptions>) {
  const sandbox = await starter.open({
    ...{ name: uniqueName(), policy: {}, file: "/bin/echo", args: ["said"], env: {} },
    ...options,
  });
  const said = await readAll(sandbox.stdout);
  await sandbox.close();
  return { said, outer: sandbox.identity.outer.pid };
}

describe("a starter of sandboxes", () => {
  itInside("lets the launcher that waits become the next sandbox, and ends the last one with itself", async () => {
    const starter = starterOfThisTest();
    await say(starter, {});
    for (let n = 0; n < 3; n++) {
      const [waiting] = childrenOf(process.pid);
      expect(await say(starter, { policy: { limits: { cpuSeconds: 9 } } })).toEqual({ said: "said\n", outer: waiting });
    }
    const [last = 0] = childrenOf(process.pid);
    const mark = markProcess(last);
    expect(isAlive(mark)).toBe(true);
    await Promise.all([starter.close(), starter.close()]);
    expect(isAlive(mark)).toBe(false);
    await expect(say(starter, {})).rejects.toMatchObject({ code: "STARTER_CLOSED" });
  });

  partTest("bubblewrap", "python3")("gives the command the arguments as they are, whatever is in them", async () => {
    const starter = starterOfThisTest();
    await say(starter, {});
    const rows = [["", "'", "\\", "$(id)", printable], ["a\nb"], ["é\u{1f600}"], ["x".repeat(100_000)]];
    for (const given of rows) {
      const { said } = await say(starter, { file: "/usr/bin/python3", args: ["-I", "-c", bytes, ...given] });
      expect(said).toBe(await pythonSays(given));
    }
  });

  itInside("starts one anew when the one that waited was killed", async () => {
    const starter = starterOfThisTest();
    await say(starter, {});
    const [waiting = 0] = childrenOf(process.pid);
    const mark = markProcess(waiting);
    process.kill(waiting, "SIGKILL");
    await expect.poll(() => isAlive(mark)).toBe(false);
    expect((await say(starter, {})).said).toBe("said\n");
  });

  itInside("killed with its host leaves nothing that waits", async () => {
    const host = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(host.stdout, "data", { signal: AbortSignal.timeout(20_000) });
    const waiting = String(line).trim().split(" ").map(Number).map(markProcess);
    expect(waiting.filter(isAlive)).toHaveLength(1);
    host.kill("SIGKILL");
    await expect.poll(() => waiting.filter(isAlive), { timeout: 5_000 }).toEqual([]);
  });
});

describe("the stock of a starter", () => {
  const host = thisHost();
  const machine = thisLimitsHost();
  const command = ["/bin/true"];
  const planOf = (words: readonly string[]) => ({
    ...{ mounts: [], tmpBytes: 65_536, env: [], cwd: "/", asPid1: false, disableUserNamespaces: true },
    command: words,
  });
  const stockOf = () =>
    createLauncherStock(
      () => machine,
      () => startLauncher(host, { tools: refuseHere(host) }),
    );

  describe.each([
    { what: "mounts", changed: { ...machine, mountInfo: "" } },
    { what: "control groups", changed: { ...machine, ownGroups: "" } },
    { what: "rlimits", changed: { ...machine, ownLimits: "" } },
    { what: "users", changed: { ...machine, ownRights: machine.ownRights.replace(/^Uid:.*$/m, "Uid:\t1\t1\t1\t1") } },
  ])("when the $what changed", ({ changed }) => {
    itInside("ends the launcher that has waited since before", async () => {
      const stock = stockOf();
      stock.fill();
      expect(stock.take(changed, planOf(command))).toBeUndefined();
      expect(stock.take(machine, planOf(command))).toBeUndefined();
      await stock.close();
      expect(childrenOf(process.pid)).toEqual([]);
    });
  });

  itInside("keeps its launcher for a command that fits into a line of plain text", async () => {
    const stock = stockOf();
    stock.fill();
    for (const word of ["a\nb", "é", "\x7f", "x".repeat(5_000)])
      expect(stock.take(machine, planOf([word]))).toBeUndefined();
    stock.fill();
    expect(childrenOf(process.pid)).toHaveLength(1);
    await stock.close();
    expect(childrenOf(process.pid)).toEqual([]);
  });

  it("that was closed starts nothing", async () => {
    const stock = createLauncherStock(
      () => machine,
      () => Promise.reject(new Error("it was started")),
    );
    await stock.close();
    stock.fill();
    expect(stock.take(machine, planOf(command))).toBeUndefined();
  });
});

async function pythonSays(given: readonly string[]): Promise<string> {
  const child = spawn("/usr/bin/python3", ["-I", "-c", bytes, ...given], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {},
  });
  return readAll(child.stdout);
}
