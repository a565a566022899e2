import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readManifest, readManifestBytes } from "../../src/manifest/read-manifest.js";

const good = { name: "smoke", version: "1.0.0", protocol: 1, process: { command: "./bin/plugin" } };

async function problemsOf(text: string): Promise<readonly string[]> {
  const reading = await readManifest(text);
  return reading.ok ? [] : reading.problems;
}

const problemsWith = (changes: object): Promise<readonly string[]> =>
  problemsOf(JSON.stringify({ ...good, ...changes }));
const problemsOfProcess = (changes: object): Promise<readonly string[]> =>
  problemsWith({ process: { command: "./bin/plugin", ...changes } });

describe("a manifest", () => {
  it("has its defaults filled in", async () => {
    expect(await readManifest(JSON.stringify(good))).toEqual({
      ok: true,
      manifest: {
        ...good,
        process: { command: "./bin/plugin", args: [], env: {} },
        permissions: { network: "none" },
        mcp: true,
      },
    });
  });

  it("with everything in it is read as it stands", async () => {
    const whole = {
      ...good,
      process: { command: "./bin/ä", args: ["--x", "ö"], env: { MODE: "a=b", _X9: "" } },
      permissions: { network: "none" },
      mcp: false,
    };
    expect(await readManifest(JSON.stringify(whole))).toEqual({ ok: true, manifest: whole });
  });

  it("tells all its faults at once", async () => {
    const text = `{"name":"A","version":"1","protocol":2,"typo":1,"mcp":"yes","mcp":true,
      "process":{"command":"bin/../x","args":["\\u0000",7],"env":{"LD_PRELOAD":"x","a":"b","N":1},"shell":true},
      "permissions":{"network":"all","files":[]}}`;
    expect([...(await problemsOf(text))].sort()).toEqual(
      [
        "mcp stands more than once",
        "name does not match ^[a-z0-9][a-z0-9-]{0,63}$",
        "version is no semantic version (2.0.0), such as 1.0.0",
        "protocol is not 1, the protocol that this host speaks",
        'process.command does not begin with "./"',
        'process.command has a segment ".."',
        "process.args[0] holds a NUL character",
        "process.args[1] is no text",
        "process.env.LD_PRELOAD is a reserved name",
        "process.env.a does not match ^[A-Z_][A-Z0-9_]{0,63}$",
        "process.env.N is no text",
        "process.shell is no key of a manifest",
        'permissions.network is not "none"',
        "permissions.files is no key of a manifest",
        "typo is no key of a manifest",
      ].sort(),
    );
  });

  it("without anything in it lacks four keys", async () => {
    expect(await problemsOf("{}")).toEqual([
      "name is missing",
      "version is missing",
      "protocol is missing",
      "process is missing",
    ]);
    expect(await problemsOfProcess({ command: undefined })).toEqual(["process.command is missing"]);
  });

  it.each([
    { name: "a list", text: "[]", problem: "plugin.json is no object" },
    { name: "null", text: "null", problem: "plugin.json is no object" },
    { name: "a text", text: '"x"', problem: "plugin.json is no object" },
    { name: "nothing", text: "", problem: "plugin.json is not JSON" },
    {
      name: "no JSON",
      text: '{"name": \u001b]0;x\u0007}',
      problem: /^plugin\.json is not JSON(?:: at position \d+[ ()\w]*)?$/,
    },
    { name: "a comment", text: "{} // x", problem: /^plugin\.json is not JSON/ },
    { name: "a byte order mark", text: "\u{feff}{}", problem: "plugin.json begins with a byte order mark" },
    { name: "more than 256 KiB", text: `${" ".repeat(262_143)}{}`, problem: "plugin.json is larger than 262144 bytes" },
    {
      name: "more than 256 KiB of two-byte letters",
      text: JSON.stringify("ä".repeat(131_072)),
      problem: "plugin.json is larger than 262144 bytes",
    },
  ])("that is $name is refused", async ({ text, problem }) => {
    const problems = await problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  it.each([
    { name: "invalid UTF-8", bytes: [0x7b, 0xff, 0x7d], problem: "plugin.json is not UTF-8" },
    {
      name: "half of a surrogate pair in UTF-8",
      bytes: [0x22, 0xed, 0xa0, 0x80, 0x22],
      problem: "plugin.json is not UTF-8",
    },
    {
      name: "a byte order mark",
      bytes: [0xef, 0xbb, 0xbf, 0x7b, 0x7d],
      problem: "plugin.json begins with a byte order mark",
    },
    { name: "UTF-16", bytes: [0xff, 0xfe, 0x7b, 0], problem: "plugin.json is not UTF-8" },
  ])("whose bytes are $name is refused", async ({ bytes, problem }) => {
    expect(await readManifestBytes(Uint8Array.from(bytes))).toEqual({ ok: false, problems: [problem] });
  });

  it("of ten million bytes is refused unread", async () => {
    const reading = await readManifestBytes(new Uint8Array(10_000_000));
    expect(reading).toEqual({ ok: false, problems: ["plugin.json is larger than 262144 bytes"] });
  });

  it.each([
    { key: "name", text: '{"name":"a","name":"b"}', problem: "name stands more than once" },
    { key: "an escaped spelling of one", text: '{"mcp":false,"\\u006dcp":true}', problem: "mcp stands more than once" },
    {
      key: "process.env.A",
      text: '{"process":{"env":{"A":"1","A":"2","A":"3"}}}',
      problem: "process.env.A stands more than once",
    },
    {
      key: "permissions",
      text: '{"permissions":{"network":"none"},"permissions":{}}',
      problem: "permissions stands more than once",
    },
    { key: "an unknown key", text: '{"x\\n":1,"x\\n":2}', problem: '"x\\n" stands more than once' },
  ])("where $key stands twice is refused", async ({ text, problem }) => {
    expect((await problemsOf(text)).filter((each) => each.includes("more than once"))).toEqual([problem]);
  });

  it.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])(
    "with the key %s anywhere is refused, and changes no prototype",
    async (key) => {
      const text = JSON.stringify(good).replace("{", `{"${key}":{"mcp":false},`);
      expect(await problemsOf(text)).toEqual([`${key} is no key of a manifest`]);
      const inProcess = JSON.stringify(good).replace('{"command"', `{"${key}":1,"command"`);
      expect(await problemsOf(inProcess)).toEqual([`process.${key} is no key of a manifest`]);
      const inEnv = JSON.stringify({ ...good, process: { command: "./x", env: {} } }).replace(
        '"env":{',
        `"env":{"${key}":"1"`,
      );
      expect(await problemsOf(inEnv)).toEqual([`process.env.${key} does not match ^[A-Z_][A-Z0-9_]{0,63}$`]);
      expect(Object.hasOwn(Object.prototype, "mcp")).toBe(false);
    },
  );

  it("nested a hundred thousand deep is refused at once", async () => {
    const lists = await problemsOf(`{"name":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
    expect(lists).toContain("name is no text");
    const objects = await problemsOf(`{"x":${'{"x":'.repeat(30_000)}1${"}".repeat(30_000)}}`);
    expect(objects).toContain("x is no key of a manifest");
  });

  it("with twenty thousand unknown keys tells a hundred of them", async () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `"${index}":1`);
    const problems = await problemsOf(`{${keys.join(",")}}`);
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toBe("and 19904 more");
  });

  it("tells keys in a form that a terminal does not obey", async () => {
    const key = `\u001b[2J\u202e\u009b${"x".repeat(1_000)}`;
    const problem = (await problemsWith({ [key]: 1 }))[0] ?? "";
    expect(problem).toMatch(/^"\\u001b\[2J\\u\{202e\}\\u\{9b\}x+…" is no key of a manifest$/);
    expect(problem.length).toBeLessThan(150);
  });
});

describe("the version", () => {
  it.each([
    "1.0.0",
    "0.0.4",
    "1.1.2-prerelease+meta",
    "1.0.0-0A.is.legal",
    "1.0.0-alpha0.valid",
    "99999999999999999999.0.0",
    "1.0.0-rc.1+build.1",
  ])("%s is one", async (version) => expect(await problemsWith({ version })).toEqual([]));
  it.each([
    "1",
    "1.2",
    "v1.0.0",
    "01.1.1",
    "1.0.0-01",
    "1.2.3-",
    "1.2.3+",
    "1.2.3.4",
    "1.0.0 ",
    "1.0.0\n",
    "",
    "1.0.0-ä",
    `1.0.0-${"a".repeat(300)}`,
  ])("%j is none", async (version) =>
    expect(await problemsWith({ version })).toContain("version is no semantic version (2.0.0), such as 1.0.0"),
  );
  it("that would take long to compare is refused by its length", async () => {
    const problems = await problemsWith({ version: `1.0.0-${"0".repeat(200_000)}!` });
    expect(problems[0]).toBe("version has more than 256 bytes");
  });
});

describe("the command", () => {
  it.each(["./bin/plugin", "./plugin", "./.hidden", "./a b", "./..x", "./x..", "./bin//x"])(
    "%j is one",
    async (command) => {
      expect(await problemsOfProcess({ command })).toEqual([]);
    },
  );
  it.each(["/bin/sh", "bin/plugin", "sh", "", "../x", "./../x", "./a/../../x", "./a/..", "~/x", "./a\0b", " ./x"])(
    "%j is none",
    async (command) => expect(await problemsOfProcess({ command })).not.toEqual([]),
  );
});

describe("arguments and variables", () => {
  it("are counted in bytes, to the byte", async () => {
    expect(await problemsOfProcess({ args: Array.from({ length: 64 }, () => "ä") })).toEqual([]);
    expect(await problemsOfProcess({ args: Array.from({ length: 65 }, () => "x") })).toEqual([
      "process.args has more than 64 entries",
    ]);
    expect(await problemsOfProcess({ args: ["ä".repeat(2_048)] })).toEqual([]);
    expect(await problemsOfProcess({ args: [`${"ä".repeat(2_048)}x`] })).toEqual([
      "process.args[0] has more than 4096 bytes",
    ]);
    expect(await problemsOfProcess({ env: { A: "ä".repeat(16_384) } })).toEqual([]);
    expect(await problemsOfProcess({ env: { A: `${"ä".repeat(16_384)}x` } })).toEqual([
      "process.env.A has more than 32768 bytes",
    ]);
  });

  it("are at most 64 of each", async () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`A${index}`, "x"]));
    expect(await problemsOfProcess({ env: many })).toEqual(["process.env has more than 64 variables"]);
  });

  it.each([
    { name: "null", env: null },
    { name: "a list", env: [] },
    { name: "a text", env: "A=1" },
  ])("are refused where env is $name", async ({ env }) => {
    expect(await problemsOfProcess({ env })).toEqual(["process.env is no object"]);
  });

  it("that UTF-8 cannot write are refused", async () => {
    const text = JSON.stringify({ ...good, process: { command: "./x", args: ["\ud800"], env: { A: "\udc00" } } });
    expect(await problemsOf(text)).toEqual([
      "process.args[0] holds half of a surrogate pair",
      "process.env.A holds half of a surrogate pair",
    ]);
  });

  it.each([
    ...[
      "AVE_",
      "AVE_PROTOCOL",
      "PLUGIN_ROOT",
      "PLUGIN_",
      "LD_PRELOAD",
      "LD_LIBRARY_PATH",
      "DYLD_INSERT_LIBRARIES",
      "MALLOC_CHECK_",
      "GCONV_PATH",
    ],
    ...[
      "HOME",
      "TMPDIR",
      "PATH",
      "LANG",
      "LC_ALL",
      "TZ",
      "PYTHONPATH",
      "PYTHONHOME",
      "PYTHONSTARTUP",
      "PYTHONINSPECT",
      "PYTHONUSERBASE",
    ],
    ...[
      "NODE_OPTIONS",
      "NODE_PATH",
      "NODE_EXTRA_CA_CERTS",
      "PERL5LIB",
      "PERL5OPT",
      "RUBYOPT",
      "RUBYLIB",
      "JAVA_TOOL_OPTIONS",
      "CLASSPATH",
    ],
    ...[
      "BASH_ENV",
      "ENV",
      "IFS",
      "SHELLOPTS",
      "PROMPT_COMMAND",
      "SSL_CERT_FILE",
      "HTTP_PROXY",
      "HTTPS_PROXY",
      "ALL_PROXY",
      "NO_PROXY",
      "FTP_PROXY",
    ],
  ])("%s is reserved, in any spelling", async (name) => {
    const spellings = [name, name.toLowerCase(), name.charAt(0) + name.slice(1).toLowerCase()];
    for (const spelling of spellings) {
      expect(await problemsOfProcess({ env: { [spelling]: "x" } })).toEqual([
        `process.env.${spelling} is a reserved name`,
      ]);
    }
  });

  it.each([
    "HOMER",
    "MY_PATH",
    "AVENUE",
    "PLUGINS",
    "LDAP",
    "ENVIRONMENT",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
  ])("%s is not", async (name) => expect(await problemsOfProcess({ env: { [name]: "x" } })).toEqual([]));
});

describe("any text", () => {
  it("is read or refused, and never throws", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string({ unit: "binary" })), async (text) => {
        const reading = await readManifest(text);
        expect(reading.ok || reading.problems.length > 0).toBe(true);
      }),
    );
  });

  it("that is read says the same when it is written and read again", async () => {
    const name = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,63}$/);
    const text = fc.string({ unit: "grapheme", maxLength: 200 }).filter((each) => !each.includes("\0"));
    const manifest = fc.record(
      {
        name,
        version: fc.constantFrom("1.0.0", "2.1.0-rc.1"),
        protocol: fc.constant(1),
        process: fc.record(
          {
            command: name.map((each) => `./${each}`),
            args: fc.array(text, { maxLength: 64 }),
            env: fc.dictionary(fc.stringMatching(/^X_[A-Z0-9_]{0,61}$/), text, { maxKeys: 64 }),
          },
          { requiredKeys: ["command"] },
        ),
        permissions: fc.constantFrom({}, { network: "none" }),
        mcp: fc.boolean(),
      },
      { requiredKeys: ["name", "version", "protocol", "process"] },
    );
    await fc.assert(
      fc.asyncProperty(manifest, async (written) => {
        const first = await readManifest(JSON.stringify(written));
        if (!first.ok) throw new Error(first.problems.join("; "));
        expect(first.manifest).toMatchObject(JSON.parse(JSON.stringify(written)));
        expect(await readManifest(JSON.stringify(first.manifest))).toEqual(first);
      }),
    );
  });

  it("with one member more than the table has is refused", async () => {
    const known = new Set(["name", "version", "protocol", "process", "permissions", "mcp"]);
    const extra = fc.string({ unit: "binary" }).filter((key) => !known.has(key));
    await fc.assert(
      fc.asyncProperty(extra, fc.jsonValue(), async (key, value) => {
        const text = `{${JSON.stringify(key)}:${JSON.stringify(value)},${JSON.stringify(good).slice(1)}`;
        expect((await readManifest(text)).ok).toBe(false);
      }),
    );
  });
});
