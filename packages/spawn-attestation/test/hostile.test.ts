import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished, describe as suite } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import {
  attestedSpawn,
  describeLaunch,
  isAttestationError,
  type Launch,
  type Measurement,
  measureLaunch,
  type SpawnDescription,
} from "../src/index.js";
import { fill, testFolder } from "./support/folder.js";
import { describe, env, runLaunch } from "./support/launch.js";
import { runs } from "./support/soak.js";
import { sourceMeasurer } from "./support/source-measurer.js";

/** A part of the system, not of the workspace. */
const setpriv = "setpriv";

const measurer = sourceMeasurer();
afterAll(() => measurer.close());
const measure = (description: SpawnDescription): Promise<Measurement> => measureLaunch(description, { measurer });

suite("a hostile file system", () => {
  it("with FIFOs in the place of the files that are looked into does not hold anything up", async () => {
    const folder = testFolder({
      "p/s.js": "",
      "v/bin/x": "",
      "p/s.py": "",
      "v/lib/python3.11/site-packages/a-1.dist-info/x": "",
    });
    for (const name of [
      "p/package.json",
      "p/pyproject.toml",
      "p/__init__.py",
      "v/pyvenv.cfg",
      "v/lib/python3.11/site-packages/a-1.dist-info/RECORD",
    ]) {
      execFileSync("mkfifo", [join(folder, name)]);
    }
    fill(folder, { "v/bin/python3.11": { program: "\u007fELF" } });
    const { measurement } = await describeLaunch(describe("node", ["p/s.js"], { cwd: folder, env }), { measurer });
    expect(measurement.coverage.scope).toBe("file");
    await describeLaunch(describe("v/bin/python3.11", ["p/s.py"], { cwd: folder, env }), { measurer });
  });

  it("with folders deeper than a path can be is refused with the system's reason", async () => {
    const folder = testFolder({ "package.json": '{"name":"x"}', "s.js": "" });
    const name = "d".repeat(200);
    execFileSync("sh", [
      "-c",
      `cd "$1" && i=0; while [ $i -lt 25 ]; do mkdir ${name} && cd ${name} || exit 0; i=$((i+1)); done 2>/dev/null`,
      "sh",
      folder,
    ]);
    await expect(measure(describe("node", ["s.js"], { cwd: folder, env }))).rejects.toMatchObject({
      code: "UNREADABLE",
      osCode: "ENAMETOOLONG",
    });
  });

  it("with names that would paint over a terminal puts none of them into a message as they are", async () => {
    const folder = testFolder({
      "package.json": '{"name":"x"}',
      "s.js": "",
      "\u001b[2J\nfake: \u202eline": { link: "/etc" },
    });
    await expect(measure(describe("node", ["s.js"], { cwd: folder, env }))).rejects.toMatchObject({
      code: "TREE_LINK_ESCAPES",
      // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not be there.
      message: expect.not.stringMatching(/[\u0000-\u001f\u202e]/),
    });
  });

  partTest("ordinary-user", "util-linux")(
    "that may not be read is refused with the system's reason, never a crash",
    () => {
      // From dist, as a user that can read this repository only as far as its folders let everybody.
      const folder = testFolder({
        "p/package.json": '{"name":"x"}',
        "p/s.js": "",
        "p/secret": "",
        "q/s.js": "",
        "exec-only": { program: "#!/bin/sh\n" },
      });
      execFileSync("cp", ["-r", new URL("../dist", import.meta.url).pathname, join(folder, "dist")]);
      execFileSync("cp", [process.execPath, join(folder, "node")]);
      execFileSync("sh", ["-c", "chmod -R a+rX . && chmod 000 p/secret && chmod 700 q && chmod 711 exec-only", "sh"], {
        cwd: folder,
      });
      const code = `
      import { measureLaunch } from "./dist/index.js";
      const env = { PATH: "${folder}" };
      const cases = [["node", ["p/s.js"]], ["node", ["q/s.js"]], ["./exec-only", []], ["q/tool", []]];
      for (const [command, args] of cases) {
        const outcome = await measureLaunch({ command, args, env }).then(() => "measured", (error) => error.code + " " + error.osCode);
        console.log(outcome);
      }
    `;
      const asNobody = [
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
        "./node",
        "--input-type=module",
        "-e",
        code,
      ];
      const output = execFileSync(setpriv, asNobody, { cwd: folder, encoding: "utf8", timeout: 20_000 });
      expect(output.trim().split("\n")).toEqual([
        "UNREADABLE EACCES",
        "UNREADABLE EACCES",
        "UNREADABLE EACCES",
        "UNREADABLE EACCES",
      ]);
    },
  );
});

/** Swaps the script and back without pause, by renames and in place, until it is killed. */
const storm = `
const { renameSync, writeFileSync, readFileSync } = require("node:fs");
const [good, evil] = ["good", "evil"].map((text) => "console.log(" + JSON.stringify(text) + ")");
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
process.stdout.write("started");
for (;;) {
  for (const text of [good, evil]) {
    if (Math.random() < 0.5) { writeFileSync("app/next.tmp", text); renameSync("app/next.tmp", "app/lib.js"); }
    else if (Math.random() < 0.5) writeFileSync("app/lib.js", text);
    else { renameSync("app", "app.kept"); pause(1); renameSync("app.kept", "app"); writeFileSync("app/lib.js", text); }
    pause(Math.random() * Number(process.argv[2]));
  }
}
`;

suite("a storm of swaps", () => {
  // Slower under recheck, so that some launches fall between two swaps.
  const cases = [
    { guard: "recheck", pauseMs: 400 },
    { guard: "snapshot", pauseMs: 60 },
  ] as const;
  it.each(cases)(
    "never has other bytes accepted under guard: $guard",
    { timeout: 300_000 },
    async ({ guard, pauseMs }) => {
      const folder = testFolder({
        "app/package.json": '{"name":"app"}',
        "app/main.js": 'require("./lib.js")',
        "app/lib.js": 'console.log("good")',
        "storm.js": storm,
      });
      const plain: SpawnDescription = { ...describe("node", ["app/main.js"], { cwd: folder, env }), guard };
      const { pin } = await describeLaunch(plain, { measurer });
      const attacker = spawn(process.execPath, ["storm.js", String(pauseMs)], {
        cwd: folder,
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void attacker.kill("SIGKILL"));
      await once(attacker.stdout, "data");
      const outcomes: Record<string, number> = {};
      const count = (what: string): void => {
        outcomes[what] = (outcomes[what] ?? 0) + 1;
      };
      for (let round = 0; round < runs(800); round += 1) {
        try {
          const attested = await attestedSpawn({
            description: { ...plain, digest: pin.digest },
            policy: { allowUnmeasuredSpawn: false },
            record: () => Promise.resolve(),
            spawn: (launch: Launch) => Promise.resolve(tryRun(launch)),
            end: () => Promise.resolve(),
            snapshots: join(folder, "snapshots"),
            measurer,
          });
          await attested.recheck();
          expect(attested.child).toBe("good\n");
          count("accepted");
        } catch (error) {
          if (!isAttestationError(error)) throw error;
          count(error.code);
        }
      }
      console.info(`guard ${guard}: ${runs(800)} of 800 rounds, ${JSON.stringify(outcomes)}`);
      expect(Object.keys(outcomes).length).toBeGreaterThan(1);
    },
  );
});

/** What it printed; a program that finds its files gone in the middle fails, which is no attack. */
function tryRun(launch: Launch): string {
  try {
    return runLaunch(launch);
  } catch {
    return "good\n";
  }
}
