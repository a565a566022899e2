import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { findWheelless, sourcesAskedFor } from "../../src/environments/build/source-distributions.js";
import type { EnvironmentStoreOptions, HeldEnvironment } from "../../src/index.js";
import { failure, makeSource, makeWheel, makeWorld, preferUv, python, says, timeWith } from "./world.js";

preferUv();
const metadata = (name: string, version: string, needs: string): Record<string, string> => ({
  [`${name}-${version}.dist-info/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\nRequires-Dist: ${needs}\n`,
});

/** A world where plum, and fig from 2.0 on, are there as sources only; what code ran is in the file `ran`. */
function makeOrchard(installer: "uv" | "pip") {
  const world = makeWorld(installer);
  const ran = join(world.folder, "ran");
  const plum = makeSource(world.wheels, "plum", "1.0", ran);
  makeWheel(world.wheels, "fig", "1.0");
  const fig = makeSource(world.wheels, "fig", "2.0", ran);
  makeWheel(world.wheels, "tart", "1.0", metadata("tart", "1.0", "plum"));
  makeWheel(world.wheels, "cake", "1.0", metadata("cake", "1.0", "fig>=1.5"));
  const steps: string[] = [];
  const acquire = async (
    text: string,
    more: Partial<EnvironmentStoreOptions> = {},
    onStep = (_step: string) => {},
  ): Promise<HeldEnvironment> => {
    const store = await world.open(more);
    const requirements = world.write("asked.txt", text);
    return store.acquire(
      { interpreter: python, requirements },
      {
        onProgress: (step) => {
          steps.push(step);
          onStep(step);
        },
      },
    );
  };
  const whoRan = (): string =>
    existsSync(ran) ? [...new Set(readFileSync(ran, "utf8").trim().split(" "))].join() : "";
  return { world, plum, fig, acquire, steps, whoRan };
}

for (const installer of ["uv", "pip"] as const) {
  const needed = partTest("python3", "python3-venv", ...(installer === "uv" ? (["uv"] as const) : []));
  // pip takes seconds for each run, and more on a busy machine.
  const test = (title: string, run: () => Promise<void>): void => needed(title, run, 120_000);

  describe(`${installer}, which takes wheels first,`, () => {
    test("runs once and no code where all have wheels, also where a newer source would do", async () => {
      const { acquire, steps, whoRan } = makeOrchard(installer);
      const held = await acquire("apple\nfig\n");
      expect(held.evidence).toMatchObject({ builtFromSource: false });
      expect(steps.map((step) => step.replace(/ [\d.]+$/, ""))).toEqual([
        "creating the environment",
        `installing with ${installer}`,
        "compiling 2 modules",
        "checking what was installed",
      ]);
      expect([says(held.python, ["-c", "import fig; print(fig.told)"]), whoRan()]).toEqual(["fig 1.0", ""]);
    });

    test("builds what has no wheel, alone, after it said whose code runs as this user", async () => {
      const { acquire, steps, whoRan, world } = makeOrchard(installer);
      const held = await acquire("tart\nfig\n");
      expect(held.evidence).toMatchObject({ builtFromSource: true, confinement: "none" });
      expect(steps).toContain(
        "no wheel of plum was found: what there is of source distributions is built, and that code runs as this user",
      );
      expect([says(held.python, ["-c", "import plum; print(plum.told)"]), whoRan()]).toEqual(["plum 1.0", "plum"]);
      const store = await world.open();
      expect(await store.list()).toMatchObject([{ builtFromSource: true, confinement: "none" }]);
    });

    test("finds them one after another, and where wheels exist that do not fit", async () => {
      const { acquire, whoRan } = makeOrchard(installer);
      const held = await acquire("tart\ncake\nfig\n");
      expect(held.evidence.builtFromSource).toBe(true);
      expect([says(held.python, ["-c", "import fig; print(fig.told)"]), whoRan()]).toEqual([
        "fig 2.0",
        expect.stringMatching(/^(plum,fig|fig,plum)$/),
      ]);
    });

    test("with onlyWheels runs no such code and says what has no wheel", async () => {
      const { acquire, whoRan } = makeOrchard(installer);
      const error = await failure(acquire("tart\n", { onlyWheels: true }));
      expect(error).toMatchObject({
        code: "VENV_BUILD_FAILED",
        message: "no wheel of plum was found, and only wheels are allowed",
        details: { step: "install", cure: expect.stringContaining("give wheels of it") },
      });
      expect(error.details.stderrExcerpt).toContain("plum");
      expect(whoRan()).toBe("");
      expect((await acquire("apple\n", { onlyWheels: true })).evidence.builtFromSource).toBe(false);
    });

    test("takes a file that the requirements name for what it is", async () => {
      const { acquire, plum, steps, whoRan } = makeOrchard(installer);
      const refused = await failure(acquire(`${plum}\n`, { onlyWheels: true }));
      expect(refused.message).toBe(
        "the requirements ask for plum to be built from source, and only wheels are allowed",
      );
      expect(whoRan()).toBe("");
      const held = await acquire(`${plum}\n`);
      expect([held.evidence.builtFromSource, whoRan()]).toEqual([true, "plum"]);
      expect(steps).toContain("building plum from source, as the requirements say: that code runs as this user");
    });

    test("keeps to hashes", async () => {
      const { acquire, fig, plum } = makeOrchard(installer);
      const pinned = (path: string, name: string): string =>
        `${name} --hash=sha256:${createHash("sha256").update(readFileSync(path)).digest("hex")}\n`;
      const strict = { requireHashes: true };
      const held = await acquire(pinned(fig, "fig==2.0"), strict);
      expect(held.evidence.builtFromSource).toBe(true);
      const wrong = await failure(acquire(pinned(plum, "fig==2.0"), strict));
      expect(wrong.code).toBe("VENV_BUILD_FAILED");
    });

    test("gives the environment of each policy a key of its own", async () => {
      const { acquire } = makeOrchard(installer);
      const open = await acquire("fig==1.0\n");
      const closed = await acquire("fig==1.0\n", { onlyWheels: true });
      expect(closed).toMatchObject({ origin: "rebuilt", reason: "the policy about source distributions changed" });
      expect(closed.key).not.toBe(open.key);
    });

    test("says of an index that it cannot be reached, and nothing of wheels", async () => {
      const { acquire, steps } = makeOrchard(installer);
      const index = { from: "index", url: "http://127.0.0.1:1/simple" } as const;
      for (const onlyWheels of [false, true]) {
        const error = await failure(
          acquire("apple\n", { index, onlyWheels, env: { PIP_RETRIES: "1", UV_HTTP_RETRIES: "0" } }),
        );
        expect(error.message).not.toContain("wheel");
        expect(error.details.stderrExcerpt).toMatch(/Connection refused/);
      }
      expect(steps.join()).not.toContain("wheel");
    });

    test("takes an index's wheels and sources in the same way", async () => {
      const { acquire, world, whoRan } = makeOrchard(installer);
      const asked: string[] = [];
      const server = createServer(({ url = "" }, response) => {
        asked.push(url);
        const file = join(world.wheels, url.split("/").at(-1) || "none");
        const project = /^\/simple\/plum\/$/.test(url) ? '<a href="/f/plum-1.0.tar.gz">plum-1.0.tar.gz</a>' : undefined;
        if (project !== undefined)
          response.setHeader("content-type", "text/html").end(`<html><body>${project}</body></html>`);
        else if (existsSync(file)) response.end(readFileSync(file));
        else response.writeHead(404).end();
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void server.close());
      const address = server.address();
      const index = {
        from: "index",
        url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/simple`,
      } as const;
      const held = await acquire("plum\n", { index });
      expect([held.evidence.builtFromSource, whoRan()]).toEqual([true, "plum"]);
      expect(asked).toContain("/f/plum-1.0.tar.gz");
    });
  });
}

describe("pip", () => {
  partTest("python3", "python3-venv")(
    "asks nobody when a wheel names a source by its URL: the evidence says it",
    async () => {
      const { acquire, plum, world } = makeOrchard("pip");
      makeWheel(world.wheels, "sly", "1.0", metadata("sly", "1.0", `plum @ file://${plum}`));
      expect((await acquire("sly\n")).evidence.builtFromSource).toBe(true);
      const error = await failure(acquire("sly\n", { onlyWheels: true }));
      expect(error.message).toBe(
        "plum was built from the source that a wheel names by its URL, and only wheels are allowed",
      );
    },
  );
});

partTest("python3", "python3-venv")("one time bounds all runs of an installer together", async () => {
  const { acquire, steps } = makeOrchard("pip");
  const scheduler = timeWith(120_000);
  const error = await failure(
    acquire("tart\nfig>=2\n", { limits: { buildTimeoutMs: 120_000 }, scheduler }, (step) => {
      if (step.startsWith("no wheel of plum")) scheduler.pass();
    }),
  );
  expect(error.message).toBe("the build did not end within 120000 ms");
  expect(steps.at(-1)).toContain("no wheel of plum");
});

it.each([
  { lines: ["apple==1.0", "-c x.txt"], asked: [] },
  { lines: ["/w/plum-1.0.tar.gz"], asked: ["plum"] },
  { lines: ["/w/Big_Plum-1.0.zip --hash=sha256:ab"], asked: ["big-plum"] },
  { lines: ["/w/apple-1.0-py3-none-any.whl", "pear @ https://h/pear-1.0-py3-none-any.whl#sha256=ab"], asked: [] },
  { lines: ["plum @ https://h/plum.tar.gz", "fig[x] @ git+https://h/fig"], asked: ["plum", "fig"] },
  { lines: ["--no-binary fig,Plum"], asked: ["fig", "plum"] },
  { lines: ["--no-binary :all:"], asked: "any" },
  { lines: ["--only-binary :none:"], asked: "any" },
  { lines: ["--only-binary :all:", "--no-binary :none:"], asked: [] },
])("$lines ask for $asked from source", ({ lines, asked }) => {
  expect(sourcesAskedFor(lines)).toEqual(asked);
});

it.each([
  { kind: "pip", output: "ERROR: No matching distribution found for Plum_Jam==1.0", found: { names: ["plum-jam"] } },
  {
    kind: "pip",
    output: "WARNING: Retrying (Retry(total=0)\nERROR: No matching distribution found for plum",
    found: undefined,
  },
  { kind: "pip", output: "ERROR: ResolutionImpossible: for help", found: "unfit" },
  { kind: "uv", output: "hint: Wheels are required for `plum` because", found: { names: ["plum"] } },
  { kind: "uv", output: "cause: Failed to fetch: http://h/simple/plum/", found: undefined },
] as const)("$kind that says $output lacks $found", ({ kind, output, found }) => {
  expect(findWheelless(kind, output)).toEqual(found);
});
