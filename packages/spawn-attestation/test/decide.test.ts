import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideBeforeAsking } from "../src/decide.js";
import { AttestationError, decide, type Interpreter, type Measurement, type SpawnPolicy } from "../src/index.js";
import { runs } from "./support/soak.js";

const hex = (digit: string): string => digit.repeat(64);
const launch = { file: "/x/node", argv0: "node", args: ["s.js"], env: { SECRET: "s3cret" }, cwd: "/x" };
const interpreter: Interpreter = {
  family: "node",
  kind: "program",
  path: "/x/node",
  realPath: "/opt/node",
  digest: `sha256:${hex("1")}`,
  parts: [{ path: "/usr/bin/env", digest: `sha256:${hex("2")}` }],
};
const measurement: Measurement = {
  digest: `tree-v1:${hex("a")}`,
  launch,
  executable: { path: "/x/node", realPath: "/opt/node", digest: `sha256:${hex("1")}` },
  interpreter,
  target: { path: "/x/s.js", argument: "s.js", inArgv: true },
  coverage: { scope: "tree", root: "/x", ignore: [], leavesOut: ["hoisted-modules:/node_modules"] },
  guard: "recheck",
  files: 1,
  bytes: 1,
  warnings: [],
};
const pin = { path: interpreter.path, digest: interpreter.digest };
const closed: SpawnPolicy = { allowUnmeasuredSpawn: false };
const open: SpawnPolicy = { allowUnmeasuredSpawn: true };
const unreadable = new AttestationError("UNREADABLE", "/x/s.js cannot be read (EACCES)", {
  advice: "let it be read",
  osCode: "EACCES",
  launch,
});

describe("decide", () => {
  it("pinned and equal: spawn-measured, with what the evidence is worth", () => {
    expect(decide(measurement, { digest: measurement.digest, interpreter: pin }, closed)).toEqual({
      verdict: "spawn",
      evidence: "spawn-measured",
      message: "/x/s.js is what was pinned",
      expected: measurement.digest,
      measured: measurement.digest,
      target: "/x/s.js",
      targetInArgv: true,
      coverage: "tree",
      leavesOut: ["hoisted-modules:/node_modules"],
      guard: "recheck",
      interpreter: "/opt/node",
      interpreterKind: "program",
      observed: false,
      stage: "decide",
    });
  });

  it("pinned and different: refused with both digests, also where unmeasured spawns are allowed", () => {
    for (const policy of [closed, open]) {
      expect(decide(measurement, { digest: `tree-v1:${hex("b")}` }, policy)).toMatchObject({
        verdict: "refuse",
        reason: "DIGEST_MISMATCH",
        expected: `tree-v1:${hex("b")}`,
        measured: measurement.digest,
        advice: expect.stringContaining("spawn.digest"),
      });
    }
  });

  it("a pin of another kind says so", () => {
    const { message } = decide(measurement, { digest: `sha256:${hex("a")}` }, closed);
    expect(message).toContain("of another kind");
  });

  it("not pinned: refused, naming the key that would allow it", () => {
    expect(decide(measurement, {}, closed)).toMatchObject({
      verdict: "refuse",
      evidence: "spawn-unmeasured",
      reason: "NOT_PINNED",
      measured: measurement.digest,
      advice: expect.stringContaining("attestation.allowUnmeasuredSpawn"),
    });
  });

  it("not pinned but allowed: spawn-unmeasured and loud, with the digest on record", () => {
    expect(decide(measurement, {}, open)).toMatchObject({
      verdict: "spawn",
      evidence: "spawn-unmeasured",
      reason: "NOT_PINNED",
      measured: measurement.digest,
      message: expect.stringContaining("UNMEASURED"),
      observed: false,
    });
  });

  it("not measurable: refused with the system's reason, also where unmeasured spawns are allowed", () => {
    for (const policy of [closed, open]) {
      expect(decide(unreadable, {}, policy)).toMatchObject({
        verdict: "refuse",
        reason: "UNREADABLE",
        osCode: "EACCES",
        message: unreadable.message,
        advice: unreadable.advice,
      });
    }
  });

  it.each([
    { name: "at another path", pinned: { ...pin, path: "/y/node" } },
    { name: "of other bytes", pinned: { ...pin, digest: `sha256:${hex("9")}` } },
    {
      name: "with another program on the way",
      pinned: { ...pin, parts: [{ path: "/usr/bin/env", digest: `sha256:${hex("9")}` }] },
    },
    { name: "with one program more on the way", pinned: { ...pin, parts: [] } },
    {
      name: "with one program less",
      pinned: { ...pin, parts: [...interpreter.parts, { path: "/lib/x.so", digest: `sha256:${hex("9")}` }] },
    },
  ])("an interpreter $name is refused", ({ pinned }) => {
    const decision = decide(measurement, { digest: measurement.digest, interpreter: pinned }, open);
    expect(decision).toMatchObject({ verdict: "refuse", reason: "INTERPRETER_CHANGED", expected: pinned.digest });
  });

  it("an interpreter pin for a program that has none is refused", () => {
    const { interpreter: _, ...own } = measurement;
    expect(decide(own, { digest: own.digest, interpreter: pin }, closed).reason).toBe("INTERPRETER_CHANGED");
  });

  it("observe lets a refusal through as unmeasured, with what would have been refused", () => {
    const policy = { ...closed, observe: true };
    for (const [measured, reason] of [
      [measurement, "NOT_PINNED"],
      [unreadable, "UNREADABLE"],
    ] as const) {
      expect(decide(measured, {}, policy)).toMatchObject({
        verdict: "spawn",
        evidence: "spawn-unmeasured",
        reason,
        observed: true,
      });
    }
  });

  it("observe cannot let through what is not known to the last word", () => {
    const lost = new AttestationError("COMMAND_NOT_FOUND", "not there", { advice: "write it" });
    expect(decide(lost, {}, { ...open, observe: true }).verdict).toBe("refuse");
  });

  it("holds no value of the environment", () => {
    for (const measured of [measurement, unreadable]) {
      expect(JSON.stringify(decide(measured, {}, open))).not.toContain("s3cret");
    }
    expect(JSON.stringify(unreadable)).not.toContain("s3cret");
  });

  it("is spawn-measured in no case but that of equal pins", () => {
    const digest = fc.option(fc.constantFrom(measurement.digest, `tree-v1:${hex("b")}`, `sha256:${hex("a")}`), {
      nil: undefined,
    });
    const pinned = fc.option(
      fc.record({
        path: fc.constantFrom("/x/node", "/y/node"),
        digest: fc.constantFrom(interpreter.digest, `sha256:${hex("9")}`),
      }),
      { nil: undefined },
    );
    const policy = fc.record({ allowUnmeasuredSpawn: fc.boolean(), observe: fc.boolean() });
    fc.assert(
      fc.property(
        fc.constantFrom(measurement, unreadable),
        digest,
        pinned,
        policy,
        (measured, wanted, wantedInterpreter, allowed) => {
          const decision = decide(measured, { digest: wanted, interpreter: wantedInterpreter }, allowed);
          const equal =
            measured === measurement &&
            wanted === measurement.digest &&
            (wantedInterpreter === undefined ||
              (wantedInterpreter.path === pin.path && wantedInterpreter.digest === pin.digest));
          expect(decision.evidence === "spawn-measured").toBe(equal);
          if (equal) expect(decision.verdict).toBe("spawn");
          else expect(decision.reason).toBeDefined();
          const lets =
            allowed.observe ||
            (wanted === undefined &&
              wantedInterpreter === undefined &&
              measured === measurement &&
              allowed.allowUnmeasuredSpawn);
          if (!equal && !lets && wantedInterpreter === undefined) expect(decision.verdict).toBe("refuse");
        },
      ),
      { numRuns: runs(20_000) },
    );
  });
});

describe("a shim that was not asked yet", () => {
  const shim: Interpreter = {
    ...interpreter,
    kind: "shim",
    path: "/shims/python3",
    realPath: "/shims/python3",
    digest: `sha256:${hex("5")}`,
    parts: [],
  };
  const measured: Measurement = { ...measurement, interpreter: shim };
  const description = { command: "python3", args: [], env: {}, digest: measurement.digest };
  const own = { path: "/shims/python3", digest: `sha256:${hex("5")}` };
  const whole = {
    path: "/shims/python3",
    digest: `sha256:${hex("1")}`,
    parts: [own, { path: "/lib/libpython.so", digest: `sha256:${hex("6")}` }],
  };

  it("is asked when its own file is the pinned one, although the interpreter behind it is not known yet", () => {
    expect(decideBeforeAsking(measured, { ...description, interpreter: whole }, closed).verdict).toBe("spawn");
  });

  it.each([
    { name: "its file is another", interpreter: { ...whole, parts: [{ ...own, digest: `sha256:${hex("9")}` }] } },
    { name: "it lies elsewhere", interpreter: { ...whole, path: "/other/python3" } },
  ])("is refused without being asked when $name", ({ interpreter: pinned }) => {
    expect(decideBeforeAsking(measured, { ...description, interpreter: pinned }, closed)).toMatchObject({
      verdict: "refuse",
      reason: "INTERPRETER_CHANGED",
    });
  });

  it("is refused without being asked when the launch is refused anyway", () => {
    expect(decideBeforeAsking(measured, { ...description, digest: undefined }, closed).reason).toBe("NOT_PINNED");
  });
});
