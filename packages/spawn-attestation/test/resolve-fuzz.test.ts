import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attestedSpawn, type Decision, isAttestationError, type SpawnDescription } from "../src/index.js";
import { readEnvCommand } from "../src/resolve/env-command.js";
import { resolveLaunch } from "../src/resolve/resolve.js";
import { readShebang, readTrampoline } from "../src/resolve/shebang.js";
import { readTerms } from "../src/terms.js";
import { type Content, testFolder } from "./support/folder.js";
import { env } from "./support/launch.js";
import { runs } from "./support/soak.js";
import { sourceMeasurer } from "./support/source-measurer.js";

/** Everything that a folder can hold against a resolver. */
const zoo: Readonly<Record<string, Content>> = {
  "pkg/package.json": '{"name":"pkg"}',
  "pkg/main.js": "",
  "pkg/node_modules/dep/package.json": "{",
  "pkg/node_modules/dep/s.py": "",
  plain: "x",
  native: { program: "\u007fELF" },
  "node-script": { program: "#!/usr/bin/env node\n" },
  "sh-script": { program: "#!/bin/sh -e\n" },
  "dash-s": { program: "#!/usr/bin/env -S -u X node --no-warnings\n" },
  self: { program: "#!./self\n" },
  ping: { program: "#!./pong\n" },
  pong: { program: "#!./ping\n" },
  broken: { program: `#!${"x".repeat(400)}\n` },
  python3: { program: "#!/bin/sh\nexec pyenv exec python3\n" },
  node: { link: "/bin/sh" },
  loop: { link: "loop" },
  out: { link: "/etc/passwd" },
  proc: { link: "/proc/self/exe" },
  up: { link: ".." },
  "dir/deeper/x": "",
};

let folder = "";
beforeAll(() => {
  folder = testFolder(zoo, afterAll);
  execFileSync("mkfifo", [join(folder, "pipe")]);
});

/** The outcome, which must be a resolution or a refusal with advice. */
function outcome(description: SpawnDescription): string {
  try {
    const { target, launch } = resolveLaunch(
      readTerms(description, () => folder),
      "linux",
    );
    expect(launch).toMatchObject({ argv0: description.command, args: description.args });
    // A word that is said to lead to the target is one of the command line.
    const from = target.word?.from;
    if (typeof from === "number") expect(target.word?.text).toContain(description.args[from]);
    return "resolved";
  } catch (error) {
    if (!isAttestationError(error)) throw error;
    expect(error.advice).not.toBe("");
    expect(error.message).not.toMatch(/\p{Cc}/u);
    return error.code;
  }
}

const name = fc.constantFrom(
  ...Object.keys(zoo),
  "pipe",
  ".",
  "..",
  "",
  "/",
  "/bin/true",
  "none",
  "pkg/main.js/",
  "dir",
);
const path = fc.oneof(
  name,
  name.map((text) => `./${text}`),
  fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/")),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const word = fc.oneof(
  path,
  fc.constantFrom(
    "-",
    "--",
    "-c",
    "-m",
    "-e",
    "-u",
    "-I",
    "--import",
    "-r",
    "--eval=1",
    "X=1",
    "-S",
    "-i",
    "-S a 'b",
    "--x",
    "run",
    "+x",
  ),
);
const description: fc.Arbitrary<SpawnDescription> = fc.record(
  {
    command: fc.oneof(path, fc.constantFrom("env", "node", "sh", "python3", "npx", "/usr/bin/env", "true")),
    args: fc.array(word, { maxLength: 5 }),
    env: fc.constantFrom(env, {}, { PATH: "" }, { PATH: ".:/usr/bin:/bin", HOME: "/", NODE_OPTIONS: "x" }),
    measureTarget: path,
    allowTargetOutsideArgv: fc.boolean(),
    guard: fc.constantFrom("recheck" as const, "snapshot" as const, "none" as const),
    digest: fc.constant(`sha256:${"0".repeat(64)}`),
    measureIgnore: fc.array(fc.constantFrom("**", "pkg", "*.js", "data"), { maxLength: 2 }),
  },
  { requiredKeys: ["command", "args", "env"] },
);

describe("resolution", () => {
  it("of any description ends in a resolution or a refusal with advice, and never in another error", {
    timeout: 300_000,
  }, () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(description, (each) => {
        const code = outcome({ ...each, cwd: folder });
        seen.set(code, (seen.get(code) ?? 0) + 1);
      }),
      { numRuns: runs(60_000) },
    );
    console.info(`${runs(60_000)} of 60000 descriptions: ${JSON.stringify(Object.fromEntries(seen))}`);
    expect(seen.get("resolved") ?? 0).toBeGreaterThan(0);
    expect(seen.size).toBeGreaterThan(8);
  });
});

describe("a launch", () => {
  const measurer = sourceMeasurer();
  afterAll(() => measurer.close());

  it("of any description that is refused, for whatever reason, is recorded once and spawns nothing", {
    timeout: 600_000,
  }, async () => {
    const seen = new Map<string, number>();
    const reasonOf = async (each: SpawnDescription): Promise<string> => {
      const decisions: Decision[] = [];
      let spawned = 0;
      const options = {
        description: { ...each, cwd: folder },
        policy: { allowUnmeasuredSpawn: false },
        measurer,
        snapshots: join(folder, "snapshots"),
        record: async (decision: Decision) => void decisions.push(decision),
        spawn: async () => {
          spawned += 1;
        },
        end: async () => undefined,
      };
      const error = await attestedSpawn(options).catch((cause: unknown) => cause);
      expect(error).toMatchObject({ name: "AttestationError", code: expect.any(String) });
      expect([spawned, decisions.map(({ verdict }) => verdict)]).toEqual([0, ["refuse"]]);
      return decisions[0]?.reason ?? "none";
    };
    await fc.assert(
      // Nothing has the digest that these are pinned to, and what has none is not pinned.
      fc.asyncProperty(description, async (each) => {
        const reason = await reasonOf(each);
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      }),
      { numRuns: runs(10_000) },
    );
    console.info(`${runs(10_000)} of 10000 launches refused: ${JSON.stringify(Object.fromEntries(seen))}`);
    expect(seen.size).toBeGreaterThan(10);
  });
});

describe("the head of a script", () => {
  it("of any bytes is read or refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.boolean(), (bytes, isScript) => {
        const head = Buffer.concat([Buffer.from(isScript ? "#!" : ""), bytes]);
        try {
          const shebang = readShebang(head, "x");
          if (shebang !== undefined) expect(shebang.interpreter).toMatch(/^[^ \t\n]+$/);
          readTrampoline(head, "/x");
        } catch (error) {
          expect(error).toMatchObject({ code: "SHEBANG_INVALID" });
        }
      }),
      { numRuns: runs(40_000) },
    );
  });
});

describe("env -S", () => {
  const text = fc
    .array(fc.constantFrom("a", "b=c", " ", "  ", "'", '"', "'x y'", '"p q"', "-", "=", "é"), { maxLength: 10 })
    .map((parts) => parts.join(""));

  it("is split as env itself splits it", { timeout: 120_000 }, () => {
    const show = join(
      testFolder({ show: { program: '#!/bin/sh\nfor word; do printf "[%s]" "$word"; done\n' } }),
      "show",
    );
    fc.assert(
      fc.property(text, (words) => {
        const run = spawnSync("/usr/bin/env", ["-S", `${show} ${words}`], { encoding: "utf8" });
        let ours: string | undefined;
        try {
          const [, ...rest] = readEnvCommand(["-S", `${show} ${words}`], {}).words;
          ours = rest.map((each) => `[${each.text}]`).join("");
        } catch (error) {
          expect(error).toMatchObject({ code: "SHEBANG_INVALID" });
        }
        expect(ours).toBe(run.status === 0 ? run.stdout : undefined);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it("takes time in proportion to its length", () => {
    const long = `x ${" ".repeat(120_000)}'${"y".repeat(5_000)}'`;
    const started = performance.now();
    expect(readEnvCommand(["-S", long], {}).words).toHaveLength(2);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
