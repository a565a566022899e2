import { type ChildProcess, spawn as spawnProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, describe as suite } from "vitest";
import {
  type AttestedChild,
  type AttestedSpawnOptions,
  attestedSpawn,
  type Decision,
  describeLaunch,
  isAttestationError,
  type Launch,
  type SpawnDescription,
} from "../src/index.js";
import { fill, testFolder } from "./support/folder.js";
import { describe, env } from "./support/launch.js";
import { sourceMeasurer } from "./support/source-measurer.js";

const measurer = sourceMeasurer();
afterAll(() => measurer.close());

/** Runs a real child; its one answer on standard output stands for the answer to `initialize`. */
function spawnReal({ file, argv0, args, env: environment, cwd }: Launch): Promise<ChildProcess> {
  return Promise.resolve(
    spawnProcess(file, args, { argv0, env: environment, cwd, stdio: ["pipe", "pipe", "inherit"] }),
  );
}

async function endReal(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}

/** A server that leaves a trace as soon as it runs, answers once, and then lives on. */
const server = `
require("node:fs").writeFileSync(process.env.TRACE, require("./lib.js"));
process.stdout.write("initialized\\n");
process.stdin.resume();
`;

interface World {
  readonly folder: string;
  readonly trace: string;
  readonly description: SpawnDescription;
  readonly decisions: Decision[];
  readonly order: string[];
  options(change?: Partial<AttestedSpawnOptions<ChildProcess>>): AttestedSpawnOptions<ChildProcess>;
}

async function world(more: Partial<SpawnDescription> = {}): Promise<World> {
  const folder = testFolder({
    "srv/package.json": '{"name":"srv"}',
    "srv/main.js": server,
    "srv/lib.js": 'module.exports = "as measured"',
  });
  const trace = join(folder, "trace");
  const plain = describe("node", ["srv/main.js"], { cwd: folder, env: { ...env, TRACE: trace } });
  const { pin } = await describeLaunch(plain, { measurer });
  const description = { ...plain, digest: pin.digest, interpreter: pin.interpreter, ...more };
  const decisions: Decision[] = [];
  const order: string[] = [];
  return {
    folder,
    trace,
    description,
    decisions,
    order,
    options: (change) => ({
      description,
      policy: { allowUnmeasuredSpawn: false },
      record: (decision) => {
        decisions.push(decision);
        order.push(`record ${decision.verdict}`);
        return Promise.resolve();
      },
      spawn: (launch) => {
        order.push("spawn");
        return spawnReal(launch);
      },
      end: (child) => {
        order.push("end");
        return endReal(child);
      },
      measurer,
      scratch: join(folder, "scratch"),
      ...change,
    }),
  };
}

async function finish(attested: AttestedChild<ChildProcess>): Promise<void> {
  await endReal(attested.child);
}

async function initialized({ child }: AttestedChild<ChildProcess>): Promise<void> {
  if (child.stdout === null) throw new Error("no output");
  await once(child.stdout, "data");
}

suite("the order is measure, decide, record, spawn", () => {
  it("and a launch that is what was pinned runs, with a statement", async () => {
    const { options, order, trace, decisions } = await world();
    const attested = await attestedSpawn(options({ now: () => Date.UTC(2026, 0, 2) }));
    await initialized(attested);
    await attested.recheck();
    await finish(attested);
    expect(order).toEqual(["record spawn", "spawn"]);
    expect(decisions[0]).toMatchObject({ evidence: "spawn-measured", guard: "recheck" });
    expect(readFileSync(trace, "utf8")).toBe("as measured");
    expect(attested.statement?.predicate).toMatchObject({
      evidence: "spawn-measured",
      time: "2026-01-02T00:00:00.000Z",
    });
  });

  it("the record is durable before anything runs: while it is being written nothing has been spawned", async () => {
    const { options, order, trace } = await world();
    let written: (() => void) | undefined;
    const record = (): Promise<void> =>
      new Promise((resolve) => {
        expect(existsSync(trace)).toBe(false);
        order.push("writing");
        written = () => {
          order.push("written");
          resolve();
        };
        setImmediate(() => written?.());
      });
    await finish(await attestedSpawn(options({ record })));
    expect(order).toEqual(["writing", "written", "spawn"]);
  });

  it("a record that cannot be written stops the launch", async () => {
    const { options, order } = await world();
    const full = new Error("disk full");
    await expect(attestedSpawn(options({ record: () => Promise.reject(full) }))).rejects.toBe(full);
    expect(order).toEqual([]);
  });
});

suite("exec is not reached", () => {
  const cases: readonly {
    readonly name: string;
    readonly reason: string;
    readonly arrange?: (folder: string) => void;
    readonly change?: (folder: string) => Partial<SpawnDescription>;
  }[] = [
    {
      name: "when the digest differs",
      reason: "DIGEST_MISMATCH",
      arrange: (folder) => fill(folder, { "srv/main.js": `${server}//` }),
    },
    {
      name: "when an imported file differs",
      reason: "DIGEST_MISMATCH",
      arrange: (folder) => fill(folder, { "srv/lib.js": "module.exports = 1" }),
    },
    {
      name: "when a file was added",
      reason: "DIGEST_MISMATCH",
      arrange: (folder) => fill(folder, { "srv/new.js": "" }),
    },
    { name: "when nothing is pinned", reason: "NOT_PINNED", change: () => ({ digest: undefined }) },
    {
      name: "when the interpreter is another",
      reason: "INTERPRETER_CHANGED",
      change: () => ({ interpreter: { path: "/usr/bin/node", digest: `sha256:${"0".repeat(64)}` } }),
    },
    { name: "when the command is not there", reason: "COMMAND_NOT_FOUND", change: () => ({ command: "no-such-node" }) },
    {
      name: "when the script is not there",
      reason: "TARGET_NOT_FOUND",
      arrange: (folder) => rmSync(join(folder, "srv/main.js")),
    },
    {
      name: "when something else is measured than what runs",
      reason: "TARGET_NOT_IN_ARGV",
      change: () => ({ measureTarget: "/bin/true" }),
    },
    {
      name: "when the code is on the command line",
      reason: "CODE_ON_COMMAND_LINE",
      change: () => ({ args: ["-e", server] }),
    },
    {
      name: "when a launcher would choose the code",
      reason: "LAUNCHER_WITHOUT_TARGET",
      change: () => ({ command: "npx", args: ["srv"] }),
    },
    {
      name: "when the description is wrong",
      reason: "DESCRIPTION_INVALID",
      change: () => ({ digest: "sha256:short" }),
    },
    {
      name: "when the tree cannot be measured",
      reason: "TREE_LINK_ESCAPES",
      arrange: (folder) => fill(folder, { "srv/l": { link: "/etc" } }),
    },
    { name: "when no snapshot can be made", reason: "SNAPSHOT_FAILED", change: () => ({ guard: "snapshot" }) },
  ];

  it.each(cases)("$name: $reason is recorded and thrown", async ({ reason, arrange, change }) => {
    const { options, order, trace, folder, decisions, description } = await world();
    fill(folder, { "bin/npx": { program: '#!/bin/sh\necho ran >"$TRACE"\n' } });
    arrange?.(folder);
    const changed = {
      ...description,
      env: { ...description.env, PATH: `${description.env["PATH"]}:${folder}/bin` },
      ...change?.(folder),
    };
    await expect(attestedSpawn(options({ description: changed }))).rejects.toMatchObject({ code: reason });
    expect(order).toEqual(["record refuse"]);
    expect(decisions[0]).toMatchObject({
      verdict: "refuse",
      reason,
      message: expect.stringMatching(/.+/),
      advice: expect.stringMatching(/.+/),
    });
    expect(existsSync(trace)).toBe(false);
  });

  it("when a shim that is not the pinned one would have to be asked: it does not run either", async () => {
    const { options, folder, trace, decisions, description } = await world();
    fill(folder, { "shims/node": { program: '#!/bin/sh\necho ran >"$TRACE"\nexec node "$@"\n' } });
    const shimmed = { ...description, command: join(folder, "shims/node") };
    await expect(attestedSpawn(options({ description: shimmed }))).rejects.toMatchObject({
      code: "INTERPRETER_CHANGED",
    });
    const { interpreter: _, ...unpinned } = { ...shimmed, digest: undefined };
    await expect(attestedSpawn(options({ description: unpinned }))).rejects.toMatchObject({ code: "NOT_PINNED" });
    expect(decisions.map((decision) => decision.verdict)).toEqual(["refuse", "refuse"]);
    expect(existsSync(trace)).toBe(false);
  });
});

suite("what may run unmeasured", () => {
  it("runs as spawn-unmeasured when the policy allows it", async () => {
    const { options, decisions, description } = await world();
    const { digest: _, ...unpinned } = description;
    const attested = await attestedSpawn(options({ description: unpinned, policy: { allowUnmeasuredSpawn: true } }));
    await finish(attested);
    expect(decisions).toEqual([
      expect.objectContaining({ verdict: "spawn", evidence: "spawn-unmeasured", reason: "NOT_PINNED" }),
    ]);
    expect(attested.statement?.predicate.evidence).toBe("spawn-unmeasured");
  });

  it("observe starts even what cannot be measured, and says what would have been refused", async () => {
    const { options, decisions, folder, trace, description } = await world();
    fill(folder, { "bin/npx": { program: '#!/bin/sh\necho ran >"$TRACE"\n' } });
    const launcher = { ...description, command: join(folder, "bin/npx"), args: ["srv"] };
    const policy = { allowUnmeasuredSpawn: false, observe: true };
    const attested = await attestedSpawn(options({ description: launcher, policy }));
    await once(attested.child, "close");
    expect(decisions).toEqual([
      expect.objectContaining({ verdict: "spawn", observed: true, reason: "LAUNCHER_WITHOUT_TARGET" }),
    ]);
    expect(readFileSync(trace, "utf8")).toBe("ran\n");
    expect(attested).toMatchObject({ measurement: undefined, statement: undefined });
    await attested.recheck();
  });

  it("observe records a change after the start, and lets the child live", async () => {
    const { options, decisions, folder } = await world();
    const attested = await attestedSpawn(options({ policy: { allowUnmeasuredSpawn: false, observe: true } }));
    await initialized(attested);
    fill(folder, { "srv/lib.js": "changed" });
    await attested.recheck();
    expect(decisions.at(-1)).toMatchObject({
      verdict: "spawn",
      observed: true,
      reason: "TARGET_CHANGED",
      stage: "after-initialize",
    });
    expect(attested.child.exitCode).toBeNull();
    await finish(attested);
  });
});

suite("a change between the steps", () => {
  it("while the decision is recorded is seen before exec: a second record, and nothing runs", async () => {
    const { options, folder, decisions, order, trace } = await world();
    const plain = options();
    const record = async (decision: Decision): Promise<void> => {
      await plain.record(decision);
      if (decision.verdict === "spawn") writeFileSync(join(folder, "srv/lib.js"), 'module.exports = "other bytes"');
    };
    await expect(attestedSpawn(options({ record }))).rejects.toMatchObject({ code: "TARGET_CHANGED" });
    expect(order).toEqual(["record spawn", "record refuse"]);
    expect(decisions[1]).toMatchObject({ stage: "before-exec", reason: "TARGET_CHANGED" });
    expect(existsSync(trace)).toBe(false);
  });

  it("is seen by who compares once more before it lets go what it holds: a second record, and nothing runs", async () => {
    const { options, folder, decisions, order, trace } = await world();
    const spawnHeld = async (_launch: Launch, recheck: () => Promise<void>): Promise<never> => {
      await recheck(); // nothing was changed yet
      writeFileSync(join(folder, "srv/lib.js"), 'module.exports = "other bytes"');
      await recheck();
      throw new Error("it would run now");
    };
    const held = { ...options(), spawn: spawnHeld, spawnRechecks: true };
    await expect(attestedSpawn(held)).rejects.toMatchObject({ code: "TARGET_CHANGED" });
    expect(order).toEqual(["record spawn", "record refuse"]);
    expect(decisions[1]).toMatchObject({ stage: "before-exec", reason: "TARGET_CHANGED" });
    expect(existsSync(trace)).toBe(false);
  });

  it("while it is spawned is seen after exec: the child is ended", async () => {
    const { options, folder, decisions, order } = await world();
    let child: ChildProcess | undefined;
    const spawn = async (launch: Launch): Promise<ChildProcess> => {
      writeFileSync(join(folder, "srv/lib.js"), 'module.exports = "other bytes"');
      child = await spawnReal(launch);
      return child;
    };
    await expect(attestedSpawn(options({ spawn }))).rejects.toMatchObject({ code: "TARGET_CHANGED" });
    expect(order).toEqual(["record spawn", "record refuse", "end"]);
    expect(decisions[1]).toMatchObject({ stage: "after-exec" });
    expect(child?.signalCode).toBe("SIGKILL");
  });

  it("until the child has answered initialize is seen by recheck: the child is ended", async () => {
    const { options, folder, decisions, order } = await world();
    const attested = await attestedSpawn(options());
    await initialized(attested);
    writeFileSync(join(folder, "srv/lib.js"), 'module.exports = "other bytes"');
    await expect(attested.recheck()).rejects.toMatchObject({
      code: "TARGET_CHANGED",
      message: expect.stringContaining("lib.js"),
    });
    expect(order).toEqual(["record spawn", "spawn", "record refuse", "end"]);
    expect(decisions[1]).toMatchObject({ stage: "after-initialize", verdict: "refuse" });
    expect(attested.child.signalCode).toBe("SIGKILL");
  });

  it("a child that cannot be ended is said beside the reason", async () => {
    const { options, folder } = await world();
    const stuck = new Error("stuck");
    const end = async (child: ChildProcess): Promise<void> => {
      await endReal(child);
      throw stuck;
    };
    const attested = await attestedSpawn(options({ end }));
    writeFileSync(join(folder, "srv/lib.js"), "changed");
    await expect(attested.recheck()).rejects.toMatchObject({ code: "TARGET_CHANGED", cause: stuck });
  });

  it("goes unseen under guard: none, as the evidence says", async () => {
    const { options, folder, decisions } = await world({ guard: "none" });
    const attested = await attestedSpawn(options());
    writeFileSync(join(folder, "srv/lib.js"), "changed");
    await attested.recheck();
    await finish(attested);
    expect(decisions[0]?.guard).toBe("none");
  });

  it("of data that measureIgnore leaves out does not matter", async () => {
    const { options, folder, description } = await world();
    fill(folder, { "srv/data/x": "1" });
    const ignoring = { ...description, measureIgnore: ["data"], digest: undefined };
    const { pin } = await describeLaunch(ignoring, { measurer });
    const attested = await attestedSpawn(options({ description: { ...ignoring, digest: pin.digest } }));
    fill(folder, { "srv/data/x": "2", "srv/data/y": "3" });
    await attested.recheck();
    await finish(attested);
  });
});

suite("an abort", () => {
  it("before the start rejects with its reason, and nothing is recorded", async () => {
    const { options, order } = await world();
    const reason = new Error("enough");
    await expect(attestedSpawn(options({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(order).toEqual([]);
  });

  it("while the decision is recorded stops before exec", async () => {
    const { options, order } = await world();
    const reason = new Error("enough");
    const abort = new AbortController();
    const record = (): Promise<void> => Promise.resolve(abort.abort(reason));
    await expect(attestedSpawn(options({ record, signal: abort.signal }))).rejects.toBe(reason);
    expect(order).toEqual([]);
  });

  it("while it is spawned ends the child that nobody gets", async () => {
    const { options, order } = await world();
    const reason = new Error("enough");
    const abort = new AbortController();
    const spawn = (launch: Launch): Promise<ChildProcess> => {
      abort.abort(reason);
      return spawnReal(launch);
    };
    await expect(attestedSpawn(options({ spawn, signal: abort.signal }))).rejects.toBe(reason);
    expect(order).toEqual(["record spawn", "end"]);
  });

  it("of recheck ends the wait and leaves the child alone", async () => {
    const { options } = await world();
    const attested = await attestedSpawn(options());
    const reason = new Error("enough");
    await expect(attested.recheck({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(attested.child.exitCode).toBeNull();
    await attested.recheck();
    await finish(attested);
  });

  it("errors of the caller's own functions pass through as they are", async () => {
    const { options } = await world();
    const failure = new Error("cannot spawn");
    await expect(attestedSpawn(options({ spawn: () => Promise.reject(failure) }))).rejects.toBe(failure);
    expect(isAttestationError(failure)).toBe(false);
  });
});
