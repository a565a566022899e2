import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished, describe as suite } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { attestedSpawn, describeLaunch, isAttestationError, type Launch, type SpawnDescription } from "../src/index.js";
import { fill, testFolder } from "./support/folder.js";
import { env, makeVenv, runLaunch } from "./support/launch.js";
import { initialize, installHoisted, start, stop } from "./support/real-server.js";
import { someOf } from "./support/soak.js";
import { sourceMeasurer } from "./support/source-measurer.js";
import { leavingTrace, leftTrace, type Swap, swaps } from "./support/swaps.js";

const measurer = sourceMeasurer();
afterAll(() => measurer.close());

const steps = [
  "before measuring",
  "while it is recorded",
  "right before exec",
  "right after exec",
  "once it is up",
] as const;
type Step = (typeof steps)[number];

/** What came of a launch during which a file was swapped. */
interface Outcome {
  /** Launch, handshake and last check went well: the first call would be sent. */
  readonly accepted: boolean;
  readonly code: string | undefined;
  /** Other bytes than the measured ones ran. */
  readonly otherBytesRan: boolean;
}

interface Attack {
  readonly folder: string;
  readonly description: SpawnDescription;
  readonly file: string;
  readonly swap: Swap;
  readonly step: Step;
  /** Take the other bytes away again, as soon as the server has answered. */
  readonly putBack?: boolean;
}

async function launchUnder({ folder, description, file, swap, step, putBack = false }: Attack): Promise<Outcome> {
  const trace = join(folder, "trace");
  const evil = leavingTrace(file, trace);
  let isSwapped = false;
  const undo = (): void => {
    if (isSwapped) swap.undo(file);
    isSwapped = false;
  };
  const reach = (here: Step): void => {
    if (here !== step) return;
    swap.act(file, evil);
    isSwapped = true;
  };
  let child: ChildProcess | undefined;
  const spawn = async (launch: Launch): Promise<ChildProcess> => {
    reach("right before exec");
    child = start(launch);
    reach("right after exec");
    if (putBack) {
      await initialize(child);
      undo();
    }
    return child;
  };
  try {
    reach("before measuring");
    const attested = await attestedSpawn({
      description,
      policy: { allowUnmeasuredSpawn: false },
      record: (decision) => Promise.resolve(decision.stage === "decide" ? reach("while it is recorded") : undefined),
      spawn,
      end: stop,
      snapshots: join(folder, "snapshots"),
      scratch: join(folder, "scratch"),
      measurer,
    });
    reach("once it is up");
    if (!putBack) await initialize(attested.child);
    await attested.recheck();
    return { accepted: true, code: undefined, otherBytesRan: leftTrace(trace) };
  } catch (error) {
    if (!isAttestationError(error)) throw error;
    return { accepted: false, code: error.code, otherBytesRan: leftTrace(trace) };
  } finally {
    if (child !== undefined) await stop(child);
    undo();
    rmSync(trace, { force: true });
  }
}

interface Installed {
  readonly folder: string;
  readonly description: SpawnDescription;
  /** A file of the installation. */
  at(path: string): string;
}

const server = "node_modules/@modelcontextprotocol/server-filesystem";

let folder = "";
let app = "";
beforeAll(() => {
  folder = testFolder({ "deep/down/app/package.json": '{"name":"app"}', data: "folder/" }, afterAll);
  app = installHoisted(join(folder, "deep/down/app"), "@modelcontextprotocol/server-filesystem");
});

/** The official file system server with its 4,000 files of hoisted dependencies, pinned as it is. */
async function filesystemServer(more: Partial<SpawnDescription> = {}): Promise<Installed> {
  return pinned(folder, app, {
    command: "node",
    args: [`${server}/dist/index.js`, join(folder, "data")],
    env,
    cwd: app,
    ...more,
  });
}

async function pinned(at: string, top: string, plain: SpawnDescription): Promise<Installed> {
  const { pin } = await describeLaunch(plain, { measurer, scratch: join(at, "scratch") });
  const description = { ...plain, digest: pin.digest, interpreter: pin.interpreter };
  return { folder: at, description, at: (path) => join(top, path) };
}

const rows = steps.flatMap((step) => swaps.map((swap) => ({ step, how: swap.name, swap })));
const refusals: readonly string[] = ["DIGEST_MISMATCH", "TARGET_CHANGED", "TREE_CHANGED", "FILE_CHANGED"];

suite("guard: recheck on the file system server", () => {
  it("accepts what nobody touches", async () => {
    const { folder, description, at } = await filesystemServer();
    const nothing: Swap = { name: "", act: () => undefined, undo: () => undefined };
    const outcome = await launchUnder({
      folder,
      description,
      file: at(`${server}/dist/index.js`),
      swap: nothing,
      step: "right before exec",
    });
    expect(outcome).toEqual({ accepted: true, code: undefined, otherBytesRan: false });
  });

  it.each(someOf("entry swaps", rows))("refuses its entry $how, $step", async ({ step, swap }) => {
    const { folder, description, at } = await filesystemServer();
    const outcome = await launchUnder({ folder, description, file: at(`${server}/dist/index.js`), swap, step });
    expect(outcome.accepted).toBe(false);
    expect(refusals).toContain(outcome.code);
  });

  it.each(someOf("module swaps", rows))("refuses a module that it imports $how, $step", async ({ step, swap }) => {
    const { folder, description, at } = await filesystemServer();
    const outcome = await launchUnder({ folder, description, file: at(`${server}/dist/lib.js`), swap, step });
    expect(outcome.accepted).toBe(false);
    expect(refusals).toContain(outcome.code);
  });

  it.each(swaps)("refuses other bytes $name that ran and were put back before the next check", async (swap) => {
    const { folder, description, at } = await filesystemServer();
    const attack = {
      folder,
      description,
      file: at(`${server}/dist/lib.js`),
      swap,
      step: "right before exec",
      putBack: true,
    } as const;
    expect(await launchUnder(attack)).toEqual({ accepted: false, code: "TARGET_CHANGED", otherBytesRan: true });
  });

  it("refuses a hoisted module that changes when measureTarget covers it", async () => {
    const { folder, description, at } = await filesystemServer({ measureTarget: "." });
    const file = at("node_modules/minimatch/dist/esm/index.js");
    for (const swap of swaps.slice(0, 1)) {
      const outcome = await launchUnder({ folder, description, file, swap, step: "right before exec" });
      expect(outcome).toMatchObject({ accepted: false, code: "TARGET_CHANGED" });
    }
  });

  it("cannot see a hoisted module that the coverage leaves out, and says that it is left out", async () => {
    const { folder, description, at } = await filesystemServer();
    const { measurement } = await describeLaunch(description, { measurer });
    expect(measurement.coverage.leavesOut).toEqual([`hoisted-modules:${at("node_modules")}`]);
    const [swap] = swaps;
    if (swap === undefined) throw new Error("no swap");
    const file = at("node_modules/minimatch/dist/esm/index.js");
    const outcome = await launchUnder({ folder, description, file, swap, step: "right before exec" });
    expect(outcome).toEqual({ accepted: true, code: undefined, otherBytesRan: true });
  });
});

suite("guard: snapshot on the file system server", () => {
  it("runs a private read-only copy of the install root; argv0, cwd and the other arguments stay as written", async () => {
    const { folder, description } = await filesystemServer({ guard: "snapshot" });
    let launched: Launch | undefined;
    const attested = await attestedSpawn({
      description,
      policy: { allowUnmeasuredSpawn: false },
      record: () => Promise.resolve(),
      spawn: (launch) => {
        launched = launch;
        return Promise.resolve(start(launch));
      },
      end: stop,
      snapshots: join(folder, "snapshots"),
      measurer,
    });
    expect(await initialize(attested.child)).toContain("filesystem");
    await attested.recheck();
    await stop(attested.child);
    expect(attested.measurement?.coverage).toMatchObject({ scope: "tree", root: app, leavesOut: [] });
    expect(launched).toMatchObject({ argv0: "node", cwd: description.cwd });
    expect(launched?.args[0]).toMatch(
      new RegExp(`^${folder}/snapshots/tree-v1-[0-9a-f]{64}-[0-9a-f]{8}/root/${server}/dist/index\\.js$`),
    );
    expect(launched?.args[1]).toBe(join(folder, "data"));
    expect(readdirSync(join(folder, "snapshots"))).toHaveLength(1);
  });

  const files = [`${server}/dist/index.js`, `${server}/dist/lib.js`, "node_modules/minimatch/dist/esm/index.js"];
  const every = rows.flatMap((row) => files.map((path) => ({ ...row, path })));

  it.each(someOf("snapshot swaps", every))(
    "never runs other bytes: $path $how, $step",
    async ({ step, swap, path }) => {
      const { folder, description, at } = await filesystemServer({ guard: "snapshot" });
      const outcome = await launchUnder({ folder, description, file: at(path), swap, step });
      expect(outcome.otherBytesRan).toBe(false);
      // What was copied before the swap runs on; what was not yet is refused.
      expect(outcome.accepted).toBe(step !== "before measuring");
    },
  );
});

/** Keeps a dirty page of the script mapped, and writes words into it without a system call. */
const mapper = `
import mmap, sys
with open("p/main.js", "r+b") as file:
    page = mmap.mmap(file.fileno(), 0)
page[13:17] = b"good"
print("mapped", flush=True)
for line in sys.stdin:
    page[13:17] = line.strip().encode()
    print("written", flush=True)
`;

/** A package in a virtual environment, started by the script that pip would make for it. */
const pythonServer = `
import json, sys
from srv import answer
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer.result()}), flush=True)
`;
const pythonAnswer = 'def result(): return {"serverInfo": {"name": "srv"}}\n';

async function venvServer(more: Partial<SpawnDescription>): Promise<Installed> {
  const place = testFolder();
  const venv = makeVenv(join(place, "deep/down/venv"));
  const [version = ""] = readdirSync(join(venv, "lib"));
  const packages = `lib/${version}/site-packages`;
  fill(venv, {
    [`${packages}/srv/__init__.py`]: "",
    [`${packages}/srv/__main__.py`]: pythonServer,
    [`${packages}/srv/answer.py`]: pythonAnswer,
    "bin/srv": { program: `#!${venv}/bin/python\nimport runpy\nrunpy.run_module("srv", run_name="__main__")\n` },
  });
  const installed = await pinned(place, venv, {
    command: join(venv, "bin/python"),
    args: ["-m", "srv"],
    env,
    cwd: place,
    ...more,
  });
  return { ...installed, at: (path) => join(venv, path.replace("srv/", `${packages}/srv/`)) };
}

suite("what recheck cannot see", () => {
  /** A child that prints, when it is told to, what its library holds by then. */
  const late = 'process.stdin.once("data", () => console.log(require("./lib.js")))';

  async function launchLate(guard: "recheck" | "snapshot"): Promise<string> {
    const place = testFolder({
      "p/package.json": '{"name":"p"}',
      "p/main.js": late,
      "p/lib.js": 'module.exports = "good"',
    });
    const { description } = await pinned(place, place, {
      command: "node",
      args: ["p/main.js"],
      env,
      cwd: place,
      guard,
    });
    const attested = await attestedSpawn({
      description,
      policy: { allowUnmeasuredSpawn: false },
      record: () => Promise.resolve(),
      spawn: (launch) => Promise.resolve(start(launch)),
      end: stop,
      snapshots: join(place, "snapshots"),
      measurer,
    });
    await attested.recheck();
    fill(place, { "p/lib.js": 'module.exports = "late"' });
    const { stdin, stdout } = attested.child;
    if (stdin === null || stdout === null) throw new Error("no pipes");
    stdin.write("go\n");
    const [answer] = await once(stdout, "data");
    await stop(attested.child);
    return String(answer);
  }

  it("a module that is loaded after the last check; under snapshot it is the measured one", async () => {
    expect(await launchLate("recheck")).toBe("late\n");
    expect(await launchLate("snapshot")).toBe("good\n");
  });

  partTest("python3")(
    "a write through a memory mapping that was dirty before; a snapshot holds what was read",
    async () => {
      const place = testFolder({
        "p/package.json": '{"name":"p"}',
        "p/main.js": 'console.log("good")  ',
        "map.py": mapper,
      });
      const plain: SpawnDescription = { command: "node", args: ["p/main.js"], env, cwd: place };
      const writer = spawn("python3", ["map.py"], { cwd: place, stdio: ["pipe", "pipe", "inherit"] });
      onTestFinished(() => void writer.kill("SIGKILL"));
      await once(writer.stdout, "data");
      for (const guard of ["snapshot", "recheck"] as const) {
        const { description } = await pinned(place, place, { ...plain, guard });
        const attested = await attestedSpawn({
          description,
          policy: { allowUnmeasuredSpawn: false },
          record: () => Promise.resolve(),
          spawn: async (launch) => {
            writer.stdin.write("evil\n");
            await once(writer.stdout, "data");
            const output = runLaunch(launch);
            writer.stdin.write("good\n");
            await once(writer.stdout, "data");
            return output;
          },
          end: () => Promise.resolve(),
          snapshots: join(place, "snapshots"),
          measurer,
        }).catch((error: unknown) => error);
        if (guard === "snapshot") expect(attested).toMatchObject({ child: "good\n" });
        else console.info(`recheck and a dirty mapping: ${attested instanceof Error ? attested.message : "not seen"}`);
      }
    },
  );
});

suite("guards on a Python package in a virtual environment", () => {
  const it = partTest("python3");
  const whole = (): Partial<SpawnDescription> => ({
    measureTarget: "deep/down/venv/lib",
    allowTargetOutsideArgv: true,
  });

  for (const { step, how, swap } of someOf("Python swaps", rows)) {
    for (const path of ["srv/__main__.py", "srv/answer.py"]) {
      it(`recheck refuses ${path} ${how}, ${step}`, async () => {
        const { folder, description, at } = await venvServer(whole());
        const outcome = await launchUnder({ folder, description, file: at(path), swap, step });
        expect(outcome.accepted).toBe(false);
        expect(refusals).toContain(outcome.code);
      });
    }
  }

  it("snapshot is refused: a virtual environment cannot be copied", async () => {
    for (const description of [
      (await venvServer(whole())).description,
      (await venvServer({ command: "deep/down/venv/bin/srv", args: [] })).description,
    ]) {
      const promise = describeLaunch({ ...description, guard: "snapshot" }, { measurer });
      await expect(promise).rejects.toMatchObject({
        code: "SNAPSHOT_INCOMPLETE",
        advice: expect.stringContaining("recheck"),
      });
    }
  });

  it("a link of the environment that is led to another interpreter is seen", async () => {
    const { folder, description } = await venvServer(whole());
    const file = join(folder, "deep/down/venv/bin/python");
    const real = realpathSync(file);
    const relink: Swap = {
      name: "led elsewhere",
      act: () => {
        renameSync(file, `${file}.kept`);
        fill(folder, { "deep/down/venv/bin/python": { program: `#!/bin/sh\nexec ${real} "$@"\n` } });
      },
      undo: () => renameSync(`${file}.kept`, file),
    };
    for (const step of ["before measuring", "right before exec"] as const) {
      const { accepted, code } = await launchUnder({ folder, description, file: real, swap: relink, step });
      expect({ accepted, code }).toEqual({
        accepted: false,
        code: step === "before measuring" ? "INTERPRETER_CHANGED" : "TARGET_CHANGED",
      });
    }
  });
});
