import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { type ReadRules, readRequirements } from "../../src/environments/requirements/read-requirements.js";
import { isVenvHostError } from "../../src/index.js";
import { makeWheel, makeWorld, preferUv, python, scratch } from "./world.js";

// An inner file, since a hundred files need no interpreter.
const rules: ReadRules = { env: { NAME: "fig" }, requireHashes: false, mayChooseIndex: true };

function filesIn(files: Readonly<Record<string, string>>): string {
  const folder = scratch();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

async function read(
  files: Readonly<Record<string, string>>,
  more: Partial<ReadRules> = {},
  constraints: string[] = [],
) {
  const folder = filesIn(files);
  return readRequirements(
    join(folder, "r.txt"),
    constraints.map((name) => join(folder, name)),
    { ...rules, ...more },
  );
}

async function fault(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(isVenvHostError(error) && error.code).toBe("REQUIREMENTS_INVALID");
  return error instanceof Error ? error.message : "";
}

describe("requirements that mean the same", () => {
  const normal = ['bar[a,b]<3,>=2 ; python_version > "3"', "foo-bar==1.0"];
  it.each([
    { name: "in another order", text: 'foo-bar==1.0\nbar[a,b]<3,>=2 ; python_version > "3"\n' },
    {
      name: "with other spelling of names, extras and versions",
      text: 'Foo_Bar == 1.0\nBAR [ b, a ] >=2, <3;python_version > "3"\n',
    },
    {
      name: "with comments, blank lines and CRLF",
      text: '# all\r\n\r\nfoo.bar==1.0 # one\r\nbar[a,b]>=2,<3 ; python_version > "3"\r\n',
    },
    { name: "over several lines", text: 'foo-bar\\\n==1.0\nbar[a,b] \\\n>=2,<3 ; \\\npython_version > "3"' },
    { name: "with a byte order mark", text: '\ufefffoo-bar==1.0\nbar[a,b]>=2,<3 ; python_version  >  "3"\n' },
    { name: "twice", text: 'foo-bar==1.0\nfoo_bar==1.0\nbar[a,b]>=2,<3 ; python_version > "3"\n' },
  ])("are the same: $name", async ({ text }) => {
    expect((await read({ "r.txt": text })).identity.requirements).toEqual(normal);
  });

  it("are the same in any order, with any white space", async () => {
    const space = fc.constantFrom("", " ", "  ", "\t");
    const lines = fc.shuffledSubarray(["foo==1", "bar>=2,<3", "Baz[x]~=1.0"], { minLength: 3 });
    await fc.assert(
      fc.asyncProperty(lines, space, space, async (chosen, before, after) => {
        const text = chosen
          .map((line) => before + line.replace(/(==|>=|~=)/, `${after}$1${before}`) + after)
          .join("\n");
        expect((await read({ "r.txt": text })).identity.requirements).toEqual(["bar<3,>=2", "baz[x]~=1.0", "foo==1"]);
      }),
      { numRuns: 30 },
    );
  });
});

describe("requirements files", () => {
  it("include others, relative to themselves; a constraint stays one, also below", async () => {
    const found = await read(
      {
        "r.txt": "-r sub/a.txt\n--constraint=c.txt\n",
        "sub/a.txt": "-rb.txt\nfig\n",
        "sub/b.txt": "kiwi\n",
        "c.txt": "-r d.txt\n",
        "d.txt": "plum<2\n",
        "e.txt": "pear<3\n",
      },
      {},
      ["e.txt"],
    );
    expect(found.identity).toEqual({ requirements: ["fig", "kiwi"], constraints: ["pear<3", "plum<2"] });
  });

  it("keep hashes, sorted, and options of one requirement", async () => {
    const [b, a] = ["b".repeat(64), "a".repeat(64)];
    const found = await read({ "r.txt": `fig==1 \\\n  --hash=sha256:${b} \\\n  --hash sha256:${a}\n` });
    expect(found.lines).toEqual([`fig==1 --hash=sha256:${a} --hash=sha256:${b}`]);
  });

  it("take variables from the installer's environment, and no others", async () => {
    expect((await read({ "r.txt": "$" + "{NAME}==1\n" })).lines).toEqual(["fig==1"]);
    expect(await fault(read({ "r.txt": "$" + "{HOME}==1\n" }))).toMatch(/r\.txt:1: uses the variable HOME/);
  });

  it("name wheels relative to themselves; the key has their digest, not their place", async () => {
    const found = await read({ "r.txt": "./w/fig-1-py3-none-any.whl\n", "w/fig-1-py3-none-any.whl": "bytes" });
    const digest = createHash("sha256").update("bytes").digest("hex");
    expect(found.identity.requirements).toEqual([`fig-1-py3-none-any.whl sha256:${digest}`]);
    expect(found.lines[0]).toMatch(/^\/.*\/w\/fig-1-py3-none-any\.whl$/);
  });

  it("hide users and passwords of URLs from the key, and give them to the installer", async () => {
    const found = await read({
      "r.txt": "--extra-index-url https://me:secret@example.org/simple\nfig @ https://tok@example.org/f.whl\n",
    });
    expect(found.lines.join()).toContain("me:secret@");
    expect(JSON.stringify(found.identity)).not.toMatch(/secret|tok@/);
  });

  it("measure a wheel that a URL of this machine names, and give the installer the URL", async () => {
    const folder = filesIn({ "fig-1-py3-none-any.whl": "bytes" });
    const url = `file://${folder}/fig-1-py3-none-any.whl`;
    const found = await read({ "r.txt": `Fig[x] @ ${url} ; python_version > "3"\n` }, { mayChooseIndex: false });
    const digest = createHash("sha256").update("bytes").digest("hex");
    expect(found.lines).toEqual([`fig[x] @ ${url} ; python_version > "3"`]);
    expect(found.identity.requirements).toEqual([
      `fig[x] @ fig-1-py3-none-any.whl sha256:${digest} ; python_version > "3"`,
    ]);
  });

  // Python's `splitlines`, by which pip reads: each of these would begin a line of the attacker's choice.
  it.each(["\u001c", "\u001d", "\u001e", "\u0085", "\u000b", "\u000c", "\u2028", "\u2029"])(
    "hand an installer no line end that is none here: %j",
    async (lineEnd) => {
      const text = `fig ; python_version > "3"${lineEnd}--index-url=https://evil.example/\n`;
      const lines = await read({ "r.txt": text }, { mayChooseIndex: false }).then(
        (found) => found.lines,
        (error: unknown) => {
          if (!isVenvHostError(error) || error.code !== "REQUIREMENTS_INVALID") throw error;
          return [];
        },
      );
      const program = "import json, sys; print(len(json.loads(sys.argv[1]).splitlines()))";
      const count = execFileSync(python, ["-c", program, JSON.stringify(lines.join("\n"))], { encoding: "utf8" });
      expect(Number(count)).toBe(lines.length);
    },
  );

  it.each(["a\nfig==9", "a #b", "a\u001cb", "a$" + "{HOME}"])(
    "name no file below a folder whose name would be read as something else: %j",
    async (name) => {
      const folder = join(filesIn({}), name);
      mkdirSync(folder);
      writeFileSync(join(folder, "fig-1.whl"), "");
      writeFileSync(join(folder, "r.txt"), "fig-1.whl\n");
      expect(await fault(readRequirements(join(folder, "r.txt"), [], rules))).toMatch(/cannot be written down/);
    },
  );

  it("stop reading a file that has no end, and at an abort", async () => {
    // The kernel says that it is empty; there are gigabytes of it.
    expect(await fault(read({ "r.txt": "/proc/self/pagemap\n" }))).toMatch(/more than 536870912 bytes|cannot be read/);
    const reason = new Error("no longer wanted");
    const ending = new AbortController();
    const reading = read({ "r.txt": "/proc/self/pagemap\n" }, { signal: ending.signal });
    setImmediate(() => ending.abort(reason));
    await expect(reading).rejects.toBe(reason);
  });

  const many = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [index === 0 ? "r.txt" : `${index}.txt`, `-r ${index + 1}.txt\n`]),
  );
  it.each<{ name: string; files: Record<string, string>; message: RegExp; more?: Partial<ReadRules> }>([
    {
      name: "include themselves",
      files: { "r.txt": "-r a.txt\n", "a.txt": "-r r.txt\n" },
      message: /includes itself: .*r\.txt → .*a\.txt → .*r\.txt/,
    },
    { name: "are too deep", files: many, message: /more than 10 levels deep/ },
    {
      name: "are too many",
      files: { "r.txt": "-r a.txt\n".repeat(101), "a.txt": "fig\n" },
      message: /one file more than the 100/,
    },
    { name: "are too long", files: { "r.txt": "#".repeat(1_048_577) }, message: /at most 1048576 bytes/ },
    { name: "have too many lines", files: { "r.txt": "fig\n".repeat(10_001) }, message: /more than 10000 lines/ },
    { name: "include what is not there", files: { "r.txt": "-r gone.txt\n" }, message: /gone\.txt: cannot be read/ },
    {
      name: "include a URL",
      files: { "r.txt": "-r https://example.org/r.txt\n" },
      message: /r\.txt:1: includes a file of another machine/,
    },
    { name: "are no text", files: { "r.txt": "fig\0" }, message: /not text in UTF-8/ },
    { name: "ask for an editable install", files: { "r.txt": "fig\n-e .\n" }, message: /r\.txt:2: .*editable/ },
    { name: "name a folder", files: { "r.txt": "./sub\n", "sub/x": "" }, message: /is no file: build a wheel/ },
    { name: "hold an unknown option", files: { "r.txt": "--no-such-thing x\n" }, message: /r\.txt:1: --no-such-thing/ },
    {
      name: "hold an option of the installer beside a requirement",
      files: { "r.txt": "fig --target=/etc\n" },
      message: /r\.txt:1/,
    },
    {
      name: "hold no requirement",
      files: { "r.txt": "fig\nroot:x:0:0:secret\n" },
      message: /r\.txt:2: is no requirement that can be read/,
    },
    {
      name: "choose an index where the store does",
      files: { "r.txt": "-i https://evil.example/simple\n" },
      message: /r\.txt:1: --index-url is not allowed/,
      more: { mayChooseIndex: false },
    },
    {
      name: "name a URL where the store chooses the index",
      files: { "r.txt": "fig @ https://evil.example/fig-1-py3-none-any.whl\n" },
      message: /r\.txt:1: says itself where it comes from/,
      more: { mayChooseIndex: false },
    },
    {
      name: "name a repository where the store chooses the index",
      files: { "r.txt": "fig @ git+https://evil.example/fig\n" },
      message: /r\.txt:1: says itself where it comes from/,
      more: { mayChooseIndex: false },
    },
    { name: "name what is no URL", files: { "r.txt": "fig @ ../fig\n" }, message: /r\.txt:1: is no requirement/ },
    {
      name: "name a folder by a URL",
      files: { "r.txt": "fig @ file:///tmp\n" },
      message: /r\.txt:1: names \/tmp, which is no file/,
    },
    {
      name: "give a file a condition, which would be passed over",
      files: { "r.txt": 'fig-1.whl ; python_version < "3"\n', "fig-1.whl": "" },
      message: /r\.txt:1: gives a file a condition/,
    },
    {
      name: "name a file with extras, which an index might have by that name",
      files: { "r.txt": "fig-1.whl[x]\n", "fig-1.whl": "" },
      message: /r\.txt:1: names the file .*fig-1\.whl\[x\], which cannot be read/,
    },
    { name: "hold a control character", files: { "r.txt": "fig\u001b[2J\n" }, message: /r\.txt:1: holds a control/ },
    {
      name: "lack a hash that is required",
      files: { "r.txt": "fig==1\n" },
      message: /r\.txt:1: has no --hash/,
      more: { requireHashes: true },
    },
  ])("are refused with file and line when they $name", async ({ files, message, more }) => {
    const text = await fault(read(files, more));
    expect(text).toMatch(message);
    expect(text, "no line of a file that may be any file").not.toContain("secret");
  });

  it("are refused when they are a pipe, and never waited for", async () => {
    const folder = scratch();
    execFileSync("mkfifo", [join(folder, "pipe")]);
    symlinkSync("pipe", join(folder, "r.txt"));
    expect(await fault(readRequirements(join(folder, "r.txt"), [], rules))).toMatch(/is no file of at most/);
  });

  it.each([" ", "a", "#", "'", "[", "://", " --", ";", "$" + "{", "\\\n", "-r ", "a@://"])(
    "are read in a time that grows with their length, also when they repeat %j",
    async (piece) => {
      const text = piece.repeat(Math.floor(1_000_000 / piece.length));
      await read({ "r.txt": text }).catch((error: unknown) => {
        if (!isVenvHostError(error)) throw error;
      });
    },
    5_000,
  );

  it("never fail in another way, whatever they hold", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        await read({ "r.txt": text }).catch((error: unknown) => {
          if (!isVenvHostError(error) || error.code !== "REQUIREMENTS_INVALID") throw error;
        });
      }),
      { numRuns: 100 },
    );
  });
});

describe("the key of an environment", () => {
  partTest("python3")("has the parts that it is made of, and changes with each", async () => {
    const world = makeWorld(preferUv());
    const store = await world.open();
    const keyOf = async (more: object): Promise<string> =>
      (await store.keyOf({ interpreter: python, requirements: world.requirements, ...more })).digest;
    const { digest, parts } = await store.keyOf({ interpreter: python, requirements: world.requirements });
    expect(Object.keys(parts).sort()).toEqual([
      "constraints",
      "format",
      "index",
      "installer",
      "interpreter",
      "isConfined",
      "onlyWheels",
      "requireHashes",
      "requirements",
    ]);
    expect(await keyOf({ requirements: world.write("same.txt", "# the same\nApple == 1.0\n") })).toBe(digest);
    expect(await keyOf({ requirements: world.write("other.txt", "pear\n") })).not.toBe(digest);
    expect(await keyOf({ constraints: [world.write("c.txt", "pear<3\n")] })).not.toBe(digest);
    const careful = await world.open({ onlyWheels: true });
    expect((await careful.keyOf({ interpreter: python, requirements: world.requirements })).digest).not.toBe(digest);
    const elsewhere = await world.open({ index: { from: "index", url: "https://me:secret@example.org/simple" } });
    const other = await elsewhere.keyOf({ interpreter: python, requirements: world.requirements });
    expect(other.digest).not.toBe(digest);
    expect(other.parts["index"]).toEqual({ from: "index", url: "https://example.org/simple" });
    expect(readFileSync(world.requirements, "utf8")).toBe("apple==1.0\n");
  });

  partTest("python3", "python3-venv")(
    "asks for hashes where the store requires them, and the installer holds them",
    async () => {
      const world = makeWorld(preferUv());
      const store = await world.open({ requireHashes: true });
      const digest = createHash("sha256")
        .update(readFileSync(join(world.wheels, "apple-1.0-py3-none-any.whl")))
        .digest("hex");
      const right = world.write("right.txt", `apple==1.0 --hash=sha256:${digest}\n`);
      expect(await store.acquire({ interpreter: python, requirements: right })).toMatchObject({ origin: "built" });
      const wrong = world.write("wrong.txt", `apple==1.0 --hash=sha256:${"0".repeat(64)}\n`);
      await expect(store.acquire({ interpreter: python, requirements: wrong })).rejects.toMatchObject({
        code: "VENV_BUILD_FAILED",
        details: { step: "install", stderrExcerpt: expect.stringMatching(/hash/i) },
      });
      // What a requirement asks for in turn needs one too.
      const needing = makeWheel(world.wheels, "needing", "1.0", {
        "needing-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: needing\nVersion: 1.0\nRequires-Dist: pear\n",
      });
      const ofNeeding = createHash("sha256").update(readFileSync(needing)).digest("hex");
      const half = world.write("half.txt", `needing==1.0 --hash=sha256:${ofNeeding}\n`);
      await expect(store.acquire({ interpreter: python, requirements: half })).rejects.toMatchObject({
        code: "VENV_BUILD_FAILED",
        details: { step: "install", stderrExcerpt: expect.stringMatching(/pear/i) },
      });
    },
  );
});
