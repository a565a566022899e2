import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { findInterpreter } from "../src/index.js";
import { readElfLibraries } from "../src/program/elf-libraries.js";
import { findProgram } from "../src/program/find-program.js";
import { sandboxesOfThisFile } from "./sandboxes.js";

const sandboxes = sandboxesOfThisFile();
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "berth-interpreter-")));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A folder that looks like an installed Python. */
function makePython(prefix: string, version = "3.12"): string {
  for (const folder of ["bin", `lib/python${version}`]) mkdirSync(join(prefix, folder), { recursive: true });
  writeFileSync(join(prefix, `lib/python${version}/os.py`), "");
  const program = join(prefix, "bin", `python${version}`);
  writeFileSync(program, "\\x7fELF");
  chmodSync(program, 0o755);
  for (const name of ["python3", "python"]) symlinkSync(`python${version}`, join(prefix, "bin", name));
  return program;
}

describe("an interpreter", () => {
  const base = join(scratch, "base");
  const program = makePython(base);

  it("is found by any of its names, with its whole tree", () => {
    symlinkSync(join(base, "bin", "python3"), join(scratch, "py"));
    const expected = { file: program, base, environment: undefined, trees: [base] };
    for (const name of [program, join(base, "bin/python"), join(scratch, "py")])
      expect(findInterpreter(name)).toEqual(expected);
  });

  it("behind a shim of pyenv is the one that is set for everybody", () => {
    const root = join(scratch, "pyenv");
    const versions = ["3.11.7", "3.12.1"].map((version) =>
      makePython(join(root, "versions", version), version.slice(0, 4)),
    );
    mkdirSync(join(root, "shims"));
    const shim = join(root, "shims", "python3");
    writeFileSync(
      shim,
      `#!/usr/bin/env bash\nset -e\nexport PYENV_ROOT="${root}"\nexec "${root}/libexec/pyenv" exec "$0" "$@"\n`,
    );
    chmodSync(shim, 0o755);
    writeFileSync(join(root, "version"), "3.12.1\n3.11.7\n");
    expect(findInterpreter(shim)).toMatchObject({ file: versions[1], trees: [join(root, "versions", "3.12.1")] });
    writeFileSync(join(root, "version"), "3.9.0\n");
    expect(() => findInterpreter(shim)).toThrow(expect.objectContaining({ code: "INTERPRETER_NOT_FOUND" }));
  });

  it.each([{ kind: "link" }, { kind: "copy" }])(
    "of a virtual environment ($kind) is its own, with its base",
    ({ kind }) => {
      const environment = join(scratch, `venv-${kind}`);
      const own = join(environment, "bin", "python3");
      mkdirSync(join(environment, "bin"), { recursive: true });
      if (kind === "link") symlinkSync(join(base, "bin", "python3"), own);
      else copyFileSync(program, own);
      writeFileSync(
        join(environment, "pyvenv.cfg"),
        `home = ${join(base, "bin")}\ninclude-system-site-packages = false\n`,
      );
      expect(findInterpreter(own)).toEqual({ file: own, base, environment, trees: [environment, base] });
    },
  );

  it("that would bring a whole home along is refused", () => {
    const home = join(scratch, "home");
    makePython(home);
    const before = process.env["HOME"];
    process.env["HOME"] = home;
    try {
      expect(() => findInterpreter(join(home, "bin/python3"))).toThrow(
        expect.objectContaining({ code: "INTERPRETER_NOT_FOUND" }),
      );
    } finally {
      process.env["HOME"] = before;
    }
  });

  it.each(["/bin/sh", "/nowhere/python3"])("is not %s", (path) => {
    expect(() => findInterpreter(path)).toThrow(
      expect.objectContaining({ code: "INTERPRETER_NOT_FOUND", field: "file" }),
    );
  });
});

describe("a program inside", () => {
  const ask = "import ssl, sys; print(sys.prefix, sys.base_prefix, sys.version_info[1])";
  const outside = (file: string): string => spawnSync(file, ["-I", "-c", ask], { encoding: "utf8" }).stdout;
  const inside = async (file: string): Promise<string> => {
    const { stdout, stderr } = await sandboxes.run({ file, args: ["-I", "-c", ask], env: {} });
    expect(stderr).toBe("");
    return stdout;
  };

  partTest("bubblewrap", "python3")("is the system's Python", async () => {
    expect(await inside("/usr/bin/python3")).toBe(outside("/usr/bin/python3"));
  });

  partTest("bubblewrap", "python3-venv")(
    "is the Python of a virtual environment, also one of copies, and a script of it",
    async () => {
      for (const copies of [[], ["--copies"]]) {
        const environment = join(scratch, `real-venv${copies.length}`);
        expect(spawnSync("/usr/bin/python3", ["-m", "venv", "--without-pip", ...copies, environment]).status).toBe(0);
        const own = join(environment, "bin", "python3");
        expect(await inside(own)).toBe(outside(own));
        expect(await inside(own)).toContain(`${environment} /usr `);
        const script = join(environment, "bin", "tool");
        writeFileSync(script, `#!${own}\nimport sys\nprint(sys.prefix)\n`);
        chmodSync(script, 0o755);
        const { stdout, stderr } = await sandboxes.run({ file: script, args: [] });
        expect([stdout, stderr]).toEqual([`${environment}\n`, ""]);
      }
    },
  );

  partTest("bubblewrap", "python3.12")("is a Python of pyenv or uv, at its own path", async () => {
    const found = spawnSync("python3.12", ["-c", "import sys; print(sys.executable)"], {
      encoding: "utf8",
    }).stdout.trim();
    expect(await inside(found)).toBe(outside(found));
  });

  partTest("bubblewrap")("is a Node with its libraries", async () => {
    const { stdout, stderr } = await sandboxes.run({
      file: process.execPath,
      args: ["-p", "process.version"],
      env: {},
    });
    expect([stdout, stderr]).toEqual([`${process.version}\n`, ""]);
  });

  partTest("bubblewrap")("keeps the name by which it was called, when that is there inside", async () => {
    expect(findProgram("/bin/sh")).toEqual({ file: "/bin/sh", trees: [], python: undefined });
    const link = join(scratch, "my-shell");
    symlinkSync("/bin/sh", link);
    expect(findProgram(link)).toMatchObject({ file: realpathSync("/bin/sh"), trees: [] });
  });
});

describe("the libraries of an ELF file", () => {
  it("are read from the file, and a damaged one never does harm", () => {
    const good = existsSync("/usr/bin/true") ? readFileSync("/usr/bin/true") : Buffer.alloc(0);
    const loader = readElfLibraries("/usr/bin/true")?.loader;
    expect(loader).toMatch(/^\/lib.*ld-/);
    const damaged = join(scratch, "damaged");
    const head = fc.nat({ max: Math.min(good.length, 1_024) - 1 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(head, fc.nat({ max: 255 })), { minLength: 1 }),
        fc.nat({ max: good.length }),
        (changes, length) => {
          const bytes = Buffer.from(good.subarray(0, length));
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          writeFileSync(damaged, bytes);
          const folders = readElfLibraries(damaged)?.folders ?? [];
          expect(folders.every((folder) => folder.startsWith("/"))).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("lie in the folders that it names, relative to itself", () => {
    const file = join(scratch, "made");
    writeFileSync(file, makeElf("$ORIGIN/../lib:/opt/$LIB/x:relative:/opt/y"));
    expect(readElfLibraries(file)).toEqual({ loader: "/lib64/ld.so", folders: [`${scratch}/../lib`, "/opt/y"] });
  });
});

/** A 64-bit ELF file with an interpreter and a DT_RUNPATH, and nothing else (System V ABI, gABI 4.1). */
function makeElf(runpath: string): Buffer {
  const file = Buffer.alloc(1_024);
  const [table, interp, dynamic, strings, address] = [64, 300, 400, 500, 0x10000];
  file.write("\x7fELF\x02\x01\x01", 0, "latin1");
  file.writeBigUInt64LE(BigInt(table), 32);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(3, 56);
  const segments = [
    { type: 1, offset: 0, at: address, bytes: file.length },
    { type: 2, offset: dynamic, at: address + dynamic, bytes: 48 },
    { type: 3, offset: interp, at: address + interp, bytes: 13 },
  ];
  for (const [index, { type, offset, at, bytes }] of segments.entries()) {
    const start = table + index * 56;
    file.writeUInt32LE(type, start);
    file.writeBigUInt64LE(BigInt(offset), start + 8);
    file.writeBigUInt64LE(BigInt(at), start + 16);
    file.writeBigUInt64LE(BigInt(bytes), start + 32);
  }
  file.write("/lib64/ld.so\0", interp, "latin1");
  for (const [index, value] of [5, address + strings, 29, 1, 0, 0].entries())
    file.writeBigUInt64LE(BigInt(value), dynamic + index * 8);
  file.write(`\0${runpath}\0`, strings, "latin1");
  return file;
}
