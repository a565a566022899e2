import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, describe as suite } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { decide, describeLaunch, type LaunchReport, type SpawnDescription } from "../src/index.js";
import { fill, testFolder } from "./support/folder.js";
import { describe, env, makeVenv, pythonPath } from "./support/launch.js";
import { sourceMeasurer } from "./support/source-measurer.js";

const measurer = sourceMeasurer();
afterAll(() => measurer.close());
const report = (description: SpawnDescription): Promise<LaunchReport> => describeLaunch(description, { measurer });

suite("describeLaunch", () => {
  it.each([
    { author: '"Ann <a@example.org>"', publisher: "Ann <a@example.org>" },
    { author: '{"name":"Ann"}', publisher: "Ann" },
    { author: "7", publisher: undefined },
  ])("says what the nearest package.json says: $author", async ({ author, publisher }) => {
    const folder = testFolder({
      "p/package.json": `{"name":"@a/p","version":"1.2.3","author":${author}}`,
      "p/d/s.js": "",
    });
    const { origin } = await report(describe("node", ["p/d/s.js"], { cwd: folder, env }));
    expect(origin).toEqual({
      ecosystem: "npm",
      name: "@a/p",
      version: "1.2.3",
      publisher,
      source: join(folder, "p/package.json"),
    });
  });

  it("shows no control characters of a package that would paint over the terminal", async () => {
    const folder = testFolder({ "package.json": '{"name":"x\\u001b[2Jy\\u202e"}', "s.js": "" });
    const { origin } = await report(describe("node", ["s.js"], { cwd: folder, env }));
    expect(origin?.name).toBe("x\\u{1b}[2Jy\\u{202e}");
  });

  partTest("python3")("says what the dist-info says that lists the file", async () => {
    const folder = testFolder();
    const venv = makeVenv(join(folder, "venv"));
    const [version = ""] = readdirSync(join(venv, "lib"));
    const packages = join(venv, "lib", version, "site-packages");
    fill(packages, {
      "other-1.0.dist-info/RECORD": "other/__init__.py,sha256=x,0\n",
      "srv_pkg-2.0.dist-info/RECORD": "srv/__init__.py,sha256=x,0\n../../../bin/srv,sha256=x,1\n",
      "srv_pkg-2.0.dist-info/METADATA":
        "Metadata-Version: 2.1\nName: srv-pkg\nVersion: 2.0\nAuthor-email: Ann <a@example.org>\n\nName: not this\n",
      "srv/__init__.py": "",
    });
    fill(venv, { "bin/srv": { program: `#!${venv}/bin/python\n` } });
    const expected = {
      ecosystem: "python",
      name: "srv-pkg",
      version: "2.0",
      publisher: "Ann <a@example.org>",
      source: join(packages, "srv_pkg-2.0.dist-info/METADATA"),
    };
    expect((await report(describe(join(venv, "bin/srv"), [], { env }))).origin).toEqual(expected);
    const module = describe(join(venv, "bin/python"), ["-m", "srv"], {
      env,
      measureTarget: join(packages, "srv"),
      allowTargetOutsideArgv: true,
    });
    expect((await report(module)).origin).toEqual(expected);
  });

  it("gives the pins to write, which then hold", async () => {
    const folder = testFolder({ "package.json": '{"name":"p"}', "tool.js": { program: "#!/usr/bin/env node\n" } });
    const description = describe("./tool.js", [], { cwd: folder, env });
    const { pin, measurement, offers } = await report(description);
    expect(pin).toEqual({
      digest: measurement.digest,
      interpreter: {
        path: measurement.interpreter?.path,
        digest: measurement.interpreter?.digest,
        parts: measurement.interpreter?.parts,
      },
    });
    expect(offers).toEqual([]);
    expect(decide(measurement, { ...description, ...pin }, { allowUnmeasuredSpawn: false }).evidence).toBe(
      "spawn-measured",
    );
  });

  partTest("python3")("offers to write the real interpreter in place of a shim", async () => {
    const folder = testFolder({ "s.py": "", tool: { program: "#!/usr/bin/env python3\n" } });
    fill(folder, { "bin/python3": { program: `#!/bin/sh\nexec ${pythonPath()} "$@"\n` } });
    const shimmed = { cwd: folder, env: { PATH: `${folder}/bin:/usr/bin:/bin` } };
    const direct = await report(describe("python3", ["s.py"], shimmed));
    expect(direct.offers).toEqual([{ members: { command: pythonPath() }, why: expect.stringContaining("shim") }]);
    const byScript = await report(describe("./tool", ["x"], shimmed));
    expect(byScript.offers[0]?.members).toEqual({ command: pythonPath(), args: [`${folder}/./tool`, "x"] });
    const { command = "", args = [] } = byScript.offers[0]?.members ?? {};
    expect((await report(describe(command, args, shimmed))).measurement.interpreter?.kind).toBe("program");
  });
});
