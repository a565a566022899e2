import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import {
  claimInstalledEnvironment,
  findInstalledEnvironment,
  type InstalledEnvironmentOptions,
} from "../../src/index.js";
// An inner file: the rule is another program's, and is compared with that program's language.
import { classStem } from "../../src/installed/class-stem.js";

const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

interface Installed {
  readonly home: string;
  readonly cache: string;
  readonly options: InstalledEnvironmentOptions;
  write(name: string, content: string): void;
  read(name: string): unknown;
}

/** A plugin `pii.filters.PiiFilter` with an environment whose interpreter is there, and no metadata. */
function makeInstalled(more: Partial<InstalledEnvironmentOptions> = {}): Installed {
  const folder = mkdtempSync("/tmp/berth-installed-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, "plugins", "pii");
  const cache = join(home, ".cpex", "venv_cache");
  mkdirSync(cache, { recursive: true });
  mkdirSync(join(home, ".venv", "bin"), { recursive: true });
  symlinkSync("/usr/bin/python3", join(home, ".venv", "bin", "python"));
  writeFileSync(join(home, "requirements.txt"), "cpex\n");
  return {
    home,
    cache,
    options: {
      pluginsFolder: join(folder, "plugins"),
      className: "pii.filters.PiiFilter",
      requirementsFile: "requirements.txt",
      version: "1.2",
      ...more,
    },
    write: (name, content) => writeFileSync(join(cache, name), content),
    read: (name) => JSON.parse(readFileSync(join(cache, name), "utf8")),
  };
}

const ofClass = "pii-filters-PiiFilter_metadata.json";
const ofAll = ".venv_metadata.json";

const metadata = (installed: Installed, more: object = {}): string =>
  JSON.stringify({
    venv_path: join(installed.home, ".venv"),
    requirements_file: null,
    requirements_hash: sha256("cpex\n"),
    manifest_version: "1.2",
    manifest_hash: emptyHash,
    python_version: "3.11.2",
    ...more,
  });

describe("an environment that another host installed", () => {
  it.each<{
    name: string;
    prepare: (installed: Installed) => void;
    verdict: string;
    more?: Partial<InstalledEnvironmentOptions>;
  }>([
    { name: "the Rust host's metadata fits", prepare: (at) => at.write(ofClass, metadata(at)), verdict: "valid" },
    { name: "the command line's metadata fits", prepare: (at) => at.write(ofAll, metadata(at)), verdict: "valid" },
    {
      name: "a signal is null or absent",
      prepare: (at) => at.write(ofClass, metadata(at, { manifest_version: null, manifest_hash: undefined })),
      verdict: "valid",
    },
    {
      name: "there are no requirements, and none were",
      prepare: (at) => at.write(ofClass, metadata(at, { requirements_hash: emptyHash })),
      more: { requirementsFile: undefined },
      verdict: "valid",
    },
    {
      name: "a requirements file that is not there counts as empty",
      prepare: (at) => at.write(ofClass, metadata(at, { requirements_hash: emptyHash })),
      more: { requirementsFile: "gone.txt" },
      verdict: "valid",
    },
    {
      name: "there is none",
      prepare: (at) => rmSync(join(at.home, ".venv"), { recursive: true }),
      verdict: "venv missing",
    },
    {
      name: "its interpreter leads nowhere",
      prepare: (at) => {
        at.write(ofClass, metadata(at));
        unlinkSync(join(at.home, ".venv", "bin", "python"));
        symlinkSync("/nowhere/python", join(at.home, ".venv", "bin", "python"));
      },
      verdict: "venv missing",
    },
    { name: "nothing was noted", prepare: () => {}, verdict: "metadata missing" },
    {
      name: "the note is cut",
      prepare: (at) => at.write(ofClass, metadata(at).slice(0, 40)),
      verdict: "metadata unreadable",
    },
    {
      name: "the note is a folder",
      prepare: (at) => mkdirSync(join(at.cache, ofClass)),
      verdict: "metadata unreadable",
    },
    {
      name: "the note lacks what it must have",
      prepare: (at) => at.write(ofClass, metadata(at, { venv_path: undefined })),
      verdict: "metadata unreadable",
    },
    {
      name: "requirements changed, which is looked at first",
      prepare: (at) =>
        at.write(ofClass, metadata(at, { requirements_hash: sha256("x"), manifest_version: "9", manifest_hash: "9" })),
      verdict: "requirements changed",
    },
    {
      name: "the version changed, before the manifest",
      prepare: (at) => at.write(ofClass, metadata(at, { manifest_version: "9", manifest_hash: "9" })),
      verdict: "manifest version changed",
    },
    {
      name: "a version was noted and none is known now",
      prepare: (at) => at.write(ofClass, metadata(at)),
      more: { version: undefined },
      verdict: "manifest version changed",
    },
    {
      name: "the manifest was edited",
      prepare: (at) => {
        at.write(ofClass, metadata(at));
        writeFileSync(join(at.home, "pii-filters-PiiFilter.plugin-manifest.yaml"), "version: 1.2\n");
      },
      verdict: "manifest hash changed",
    },
    {
      name: "a signal is no text",
      prepare: (at) => at.write(ofClass, metadata(at, { manifest_version: 1.2 })),
      verdict: "manifest version changed",
    },
    {
      name: "another class's note says nothing",
      prepare: (at) => at.write("pii-filters-Other_metadata.json", metadata(at)),
      verdict: "metadata missing",
    },
  ])("is judged as the fact sheet says: $name", async ({ prepare, verdict, more }) => {
    const installed = makeInstalled(more);
    prepare(installed);
    expect((await findInstalledEnvironment(installed.options)).verdict).toBe(verdict);
  });

  it("lies in the folder of the class's first name, with requirements relative to it or absolute", async () => {
    const installed = makeInstalled();
    installed.write(ofClass, metadata(installed));
    const found = await findInstalledEnvironment(installed.options);
    expect(found).toEqual({
      path: join(installed.home, ".venv"),
      verdict: "valid",
      metadata: join(installed.cache, ofClass),
    });
    const absolute = { ...installed.options, requirementsFile: join(installed.home, "requirements.txt") };
    expect((await findInstalledEnvironment(absolute)).verdict).toBe("valid");
    const other = { ...installed.options, className: "elsewhere.PiiFilter" };
    expect(await findInstalledEnvironment(other)).toMatchObject({
      path: join(installed.options.pluginsFolder, "elsewhere", ".venv"),
      verdict: "venv missing",
    });
  });

  it("stays valid for each of two plugins in one package, however often they take turns", async () => {
    const installed = makeInstalled();
    installed.write(ofAll, metadata(installed));
    const classes = ["pii.filters.PiiFilter", "pii.filters.Other"];
    const seen: string[] = [];
    for (const className of [...classes, ...classes, ...classes]) {
      const options = { ...installed.options, className };
      expect((await findInstalledEnvironment(options)).verdict).toBe("valid");
      await (await claimInstalledEnvironment(options)).close();
      seen.push(readFileSync(join(installed.cache, ofAll), "utf8"));
    }
    expect(new Set(seen)).toEqual(new Set([metadata(installed)]));
  });

  it("of a class whose name is no module's is an error of the caller", async () => {
    for (const className of ["", "../x.Y", ".x", "a/b.C"]) {
      const options = { ...makeInstalled().options, className };
      await expect(findInstalledEnvironment(options)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    }
  });
});

describe("a claim", () => {
  it("adds its class to the owners, keeps others, and takes only itself back", async () => {
    const installed = makeInstalled();
    installed.write(ofClass, metadata(installed));
    installed.write("owners.json", JSON.stringify({ owners: ["pii.other.Other"] }));
    const claim = await claimInstalledEnvironment(installed.options);
    expect(installed.read("owners.json")).toEqual({ owners: ["pii.filters.PiiFilter", "pii.other.Other"] });
    await claim.close();
    await claim.close();
    expect(installed.read("owners.json")).toEqual({ owners: ["pii.other.Other"] });
  });

  it("of the last owner removes the file, and a corrupt file counts as empty", async () => {
    const installed = makeInstalled();
    installed.write("owners.json", "{ not json");
    const claim = await claimInstalledEnvironment(installed.options);
    expect(installed.read("owners.json")).toEqual({ owners: ["pii.filters.PiiFilter"] });
    await claim.close();
    expect(existsSync(join(installed.cache, "owners.json"))).toBe(false);
  });

  it("of one class twice lasts until both are closed", async () => {
    const installed = makeInstalled();
    const [one, other] = [
      await claimInstalledEnvironment(installed.options),
      await claimInstalledEnvironment(installed.options),
    ];
    await one.close();
    expect(installed.read("owners.json")).toEqual({ owners: ["pii.filters.PiiFilter"] });
    await other.close();
    expect(existsSync(join(installed.cache, "owners.json"))).toBe(false);
  });

  it("notes for the Rust host what the command line noted, so that neither builds what the other made", async () => {
    const installed = makeInstalled();
    const noted = metadata(installed);
    installed.write(ofAll, noted);
    const claim = await claimInstalledEnvironment(installed.options);
    expect(installed.read(ofClass)).toEqual({
      venv_path: join(installed.home, ".venv"),
      requirements_file: join(installed.home, "requirements.txt"),
      requirements_hash: sha256("cpex\n"),
      manifest_version: "1.2",
      manifest_hash: emptyHash,
      python_version: null,
    });
    expect(readFileSync(join(installed.cache, ofAll), "utf8"), "the command line's own note stays").toBe(noted);
    expect((await findInstalledEnvironment(installed.options)).verdict).toBe("valid");
    await claim.close();
    expect((await findInstalledEnvironment(installed.options)).verdict).toBe("valid");
  });

  it("notes no version where the entry has none, as the Rust host does", async () => {
    const installed = makeInstalled({ version: undefined });
    installed.write(ofAll, metadata(installed, { manifest_version: null }));
    await (await claimInstalledEnvironment(installed.options)).close();
    expect(Object.keys(Object(installed.read(ofClass)))).toEqual([
      "venv_path",
      "requirements_file",
      "requirements_hash",
      "manifest_hash",
      "python_version",
    ]);
  });

  it("of many classes at once loses none of them, also from other processes", async () => {
    const installed = makeInstalled();
    installed.write(ofAll, metadata(installed));
    const program = fileURLToPath(new URL("./programs/claim.mjs", import.meta.url));
    const names = Array.from({ length: 4 }, (_, index) => `pii.many.Class${index}`);
    const hosts = names.map((className) => {
      const argument = JSON.stringify({ ...installed.options, className });
      const child = spawn(process.execPath, [program, argument], { stdio: ["pipe", "pipe", "inherit"] });
      onTestFinished(() => void child.kill("SIGKILL"));
      return child;
    });
    await Promise.all(hosts.map((child) => once(child.stdout, "data", { signal: AbortSignal.timeout(20_000) })));
    expect(installed.read("owners.json")).toEqual({ owners: names });
    const [killed, ...others] = hosts;
    killed?.kill("SIGKILL");
    for (const child of others) child.stdin.end();
    await Promise.all(hosts.map((child) => once(child, "exit", { signal: AbortSignal.timeout(20_000) })));
    // What a killed host claimed stays until its class is claimed and let go again.
    expect(installed.read("owners.json")).toEqual({ owners: [names[0]] });
    await (await claimInstalledEnvironment({ ...installed.options, className: names[0] ?? "" })).close();
    expect(existsSync(join(installed.cache, "owners.json"))).toBe(false);
  });
});

describe("the name of a class in file names", () => {
  it.each([
    ["pii.filters.PiiFilter", "pii-filters-PiiFilter"],
    ["  a.B  ", "a-B"],
    ["..", "plugin"],
    ["", "plugin"],
    ["-a_b-", "a_b"],
    ["größe.Ünïcode", "größe-Ünïcode"],
    ["a.b c/d\\e", "a-b-c-d-e"],
  ])("of %j is %j", (name, stem) => {
    expect(classStem(name)).toBe(stem);
  });

  partTest("python3")("keeps exactly the characters that Python calls alphanumeric", () => {
    const program =
      "import sys, unicodedata\n" +
      "for c in map(chr, range(0x110000)):\n" +
      "  if not 0xd800 <= ord(c) < 0xe000 and unicodedata.category(c) != 'Cn' and (c.isalnum() or c in '-_'): print(ord(c))";
    const kept = execFileSync("/usr/bin/python3", ["-c", program], { encoding: "utf8", maxBuffer: 10_000_000 });
    const known = execFileSync(
      "/usr/bin/python3",
      [
        "-c",
        "import unicodedata\nfor n in range(0x110000):\n  if unicodedata.category(chr(n)) not in ('Cn', 'Cs'): print(n)",
      ],
      { encoding: "utf8", maxBuffer: 10_000_000 },
    );
    const ours = known
      .trim()
      .split("\n")
      .filter((code) => classStem(`a${String.fromCodePoint(Number(code))}a`) !== "a-a" || code === "45");
    // As one text: a hundred thousand numbers.
    expect(ours.join("\n")).toBe(kept.trim());
  });
});
