import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import type { Confine, ConfinePolicy } from "../../src/index.js";
import { expectNothingLeft, failure, makeWorld, preferUv, python, says } from "./world.js";

const installer = preferUv();
const venvTest = partTest("python3", "python3-venv");

describe("an index with a password", () => {
  venvTest("is asked with it, and shows it nowhere", async () => {
    const world = makeWorld(installer);
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.headers.authorization ?? "");
      response.writeHead(404).end("none of that for s3cret-word");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const store = await world.open({ index: { from: "index", url: `http://me:s3cret-word@127.0.0.1:${port}/simple` } });
    const error = await failure(store.acquire({ interpreter: python, requirements: world.requirements }));
    expect(asked).toContain(`Basic ${Buffer.from("me:s3cret-word").toString("base64")}`);
    const texts = [
      error.message,
      JSON.stringify(error.details),
      JSON.stringify(await store.keyOf({ interpreter: python, requirements: world.requirements })),
    ];
    for (const text of texts) expect(text).not.toContain("s3cret-word");
    expect(spawnSync("grep", ["-r", "s3cret-word", world.storePath]).status, "no file of the store has it").toBe(1);
  });
});

describe("an index with a password, and a build that prints it", () => {
  venvTest("shows it nowhere either", async () => {
    const world = makeWorld(installer);
    const store = await world.open({ index: { from: "index", url: "http://me:s3cret-word@127.0.0.1:1/simple" } });
    mkdirSync(join(world.folder, "says-1.0"));
    world.write(
      "says-1.0/pyproject.toml",
      '[build-system]\nrequires = []\nbuild-backend = "says"\nbackend-path = ["."]\n',
    );
    // The whole of it, and the password alone.
    world.write(
      "says-1.0/says.py",
      'import os, sys\nurl = os.environ.get("PIP_INDEX_URL") or os.environ["UV_DEFAULT_INDEX"]\nsys.exit("it is " + url + " with " + url.split(":")[2].split("@")[0])\n',
    );
    execFileSync("tar", ["-czf", join(world.folder, "says-1.0.tar.gz"), "-C", world.folder, "says-1.0"]);
    const requirements = world.write("says.txt", "./says-1.0.tar.gz\n");
    const { message, details } = await failure(store.acquire({ interpreter: python, requirements }));
    expect(details.stderrExcerpt, "the control: it was said").toContain(
      "it is http://127.0.0.1:1/simple with **********",
    );
    expect(message + JSON.stringify(details)).not.toContain("s3cret-word");
  });
});

describe("a confined install", () => {
  venvTest("runs what `confine` makes of it, and its evidence names it", async () => {
    const world = makeWorld(installer);
    const policies: ConfinePolicy[] = [];
    let released = 0;
    const store = await world.open({
      confine: async (argv, policy) => {
        policies.push(policy);
        return {
          argv: ["/usr/bin/env", "CONFINED=1", ...argv],
          confinement: "a test",
          release: async () => {
            released += 1;
          },
        };
      },
    });
    const held = await store.acquire({ interpreter: python, requirements: world.requirements });
    expect(held.evidence.confinement).toBe("a test");
    expect(released).toBe(policies.length);
    expect(policies.map(({ name }) => name.split(" ")[0])).toEqual(["install", "install", "compile"]);
    for (const { name, network, writable, readable } of policies) {
      expect(network).toBe("none");
      expect(writable).toEqual([expect.stringContaining(join(world.storePath, "tmp", held.key))]);
      expect(readable.includes(world.wheels)).toBe(name.startsWith("install "));
    }
  });

  venvTest("names the interpreter by where it is, however it was asked for", async () => {
    const world = makeWorld(installer);
    const link = join(world.folder, "linked");
    symlinkSync(says(python, ["-c", "import sys; print(sys.base_prefix)"]), link);
    const readable: string[] = [];
    const store = await world.open({
      confine: async (argv, policy) => {
        readable.push(...policy.readable);
        return { argv, confinement: "a test", release: async () => {} };
      },
    });
    const interpreter = join(link, "bin", "python3");
    const held = await store.acquire({ interpreter, requirements: world.requirements });
    expect(readable.filter((path) => path.startsWith(link))).toEqual([]);
    await held.close();
  });

  for (const { name, confine, why } of [
    { name: "refuses", confine: () => Promise.reject(new Error("no bubblewrap here")), why: "no bubblewrap here" },
    {
      name: "starts nothing",
      confine: async () => ({
        argv: ["/bin/sh", "-c", "echo no namespaces here >&2; exit 126"],
        confinement: "a test",
        release: async () => {},
      }),
      why: expect.stringMatching(/create: python3[.\d]* ended with exit code 126: no namespaces here$/),
    },
  ]) {
    venvTest(`runs without, and says so once, where that was asked for and \`confine\` ${name}`, async () => {
      const world = makeWorld("pip");
      const asked: string[] = [];
      const store = await world.open({
        confine: (_argv, policy) => {
          asked.push(policy.name);
          return confine();
        },
        ifNotConfined: "warn",
      });
      const steps: string[] = [];
      const request = { interpreter: python, requirements: world.requirements };
      const held = await store.acquire(request, { onProgress: (step) => steps.push(step) });
      expect(held.evidence.confinement).toBe("none");
      expect(asked, "it is found out before anything that is installed can run").toHaveLength(1);
      const told = "WARNING: installing without confinement, which does not hold here: ";
      const warnings = steps.filter((step) => step.startsWith(told)).map((step) => step.slice(told.length));
      expect(warnings).toEqual([why]);
    });
  }

  venvTest("that was asked for is not had from what was installed without", async () => {
    const world = makeWorld(installer);
    const request = { interpreter: python, requirements: world.requirements };
    const plain = await (await world.open()).acquire(request);
    const confine: Confine = async (argv) => ({ argv, confinement: "a test", release: async () => {} });
    const held = await (await world.open({ confine })).acquire(request);
    expect(held.key).not.toBe(plain.key);
    expect(held).toMatchObject({
      reason: "the policy about the confinement of installs changed",
      evidence: { confinement: "a test" },
    });
  });

  venvTest("does not run where it cannot be confined", async () => {
    const world = makeWorld(installer);
    const store = await world.open({ confine: () => Promise.reject(new Error("no bubblewrap here")) });
    const error = await failure(store.acquire({ interpreter: python, requirements: world.requirements }));
    expect(error).toMatchObject({ code: "VENV_BUILD_FAILED", cause: { message: "no bubblewrap here" } });
    await expectNothingLeft(world);
  });
});
