import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partTest, scratchFolder } from "../../../fixtures/parts.js";
import { type InterpreterTable, interpreterTables, tablesFor } from "../src/resolve/interpreters.js";
import { scanArguments } from "../src/resolve/script-argument.js";
import { testFolder } from "./support/folder.js";
import { nodePath, pythonPath } from "./support/launch.js";
import { runs } from "./support/soak.js";

function table(name: string): InterpreterTable {
  const [found] = tablesFor([name]);
  if (found === undefined) throw new Error(`no table for ${name}`);
  return found;
}

const found = (name: string, line: string): string => {
  const words = line.split(" ").filter((word) => word !== "");
  const { finding } = scanArguments(table(name), words);
  return finding.kind === "target" ? (words[finding.index] ?? "") : finding.kind;
};

describe("the word of the command line that is the script", () => {
  it.each([
    ["python", "s.py -c x", "s.py"],
    ["python", "-u s.py", "s.py"],
    ["python3.12", "-uBs s.py", "s.py"],
    ["python", "-W ignore s.py", "s.py"],
    ["python", "-Wignore s.py", "s.py"],
    ["python", "-X dev -Xutf8 s.py", "s.py"],
    ["python", "--check-hash-based-pycs always s.py", "s.py"],
    ["python", "-- s.py", "s.py"],
    ["python", "-c code s.py", "code"],
    ["python", "-uc code", "code"],
    ["python", "-m mod s.py", "module"],
    ["python", "-Im mod", "module"],
    ["python", "-mmod", "module"],
    ["python", "-", "missing"],
    ["python", "-u", "missing"],
    ["python", "--no-such s.py", "unknown"],
    ["python", "-Z s.py", "unknown"],
    ["pypy3.10", "-O s.py", "s.py"],
    ["node", "s.js --eval x", "s.js"],
    ["node", "--import ./x.js s.js", "s.js"],
    ["node", "--import=./x.js s.js", "s.js"],
    ["node", "-r x --require y s.js", "s.js"],
    ["node", "--max-old-space-size=64 s.js", "s.js"],
    ["node", "--inspect=0 --enable-source-maps --no-warnings s.js", "s.js"],
    ["node", "--experimental-strip-types s.ts", "s.ts"],
    ["node", "--experimental-loader ./l.mjs s.js", "s.js"],
    ["node", "--some-new-option=1 s.js", "s.js"],
    ["node", "--some-new-option s.js", "unknown"],
    ["node", "-e code", "code"],
    ["node", "-pe code", "code"],
    ["node", "--eval=code", "code"],
    ["node", "--run start", "named"],
    ["node", "--entry-url s.js", "elsewhere"],
    ["node", "inspect s.js", "elsewhere"],
    ["node", "-- s.js", "s.js"],
    ["node", "", "missing"],
    ["ruby", "-w -I lib s.rb", "s.rb"],
    ["ruby", "-W2 -Ilib s.rb", "s.rb"],
    ["ruby", "-rjson s.rb", "s.rb"],
    ["ruby", "-C /x s.rb", "elsewhere"],
    ["ruby", "-e code", "code"],
    ["perl", "-w -Ilib s.pl", "s.pl"],
    ["perl", "-MJSON s.pl", "s.pl"],
    ["perl", "-ne code", "code"],
    ["deno", "run -A --allow-read=/x s.ts", "s.ts"],
    ["deno", "run --config d.json s.ts", "s.ts"],
    ["deno", "run https://example.org/s.ts", "remote"],
    ["deno", "run npm:server", "remote"],
    ["deno", "run jsr:@a/b", "remote"],
    ["deno", "s.ts", "s.ts"],
    ["deno", "task start", "named"],
    ["deno", "eval code", "code"],
    ["bun", "s.ts", "s.ts"],
    ["bun", "run ./s.ts", "./s.ts"],
    ["bun", "run start", "named"],
    ["bun", "x server", "named"],
    ["bun", "--cwd /x s.ts", "elsewhere"],
    ["php", "-d a=b s.php", "s.php"],
    ["php", "-f s.php", "s.php"],
    ["php", "-r code", "code"],
    ["java", "-Xmx1g -Da=b -jar s.jar", "s.jar"],
    ["java", "-cp a.jar Main", "module"],
    ["java", "S.java", "S.java"],
    ["java", "-m mod/Main", "module"],
    ["dotnet", "s.dll", "s.dll"],
    ["dotnet", "exec s.dll", "s.dll"],
    ["dotnet", "run", "named"],
    ["lua5.4", "-i s.lua", "s.lua"],
    ["bash", "s.sh -c x", "s.sh"],
    ["bash", "--norc -eu s.sh", "s.sh"],
    ["bash", "-o pipefail s.sh", "s.sh"],
    ["bash", "+x s.sh", "unknown"],
    ["bash", "-lc code", "code"],
    ["sh", "-c code", "code"],
    ["sh", "-s", "elsewhere"],
    ["zsh", "-ic code", "elsewhere"],
  ])("%s %s: %s", (name, line, expected) => {
    expect(found(name, line)).toBe(expected);
  });

  it.each(["pythonic", "node.js", "nodemon", "my-python", "shell", "perl.pl", "javac"])(
    "%s is no interpreter that is known",
    (name) => {
      expect(tablesFor([name])).toEqual([]);
    },
  );

  it.each(["-f", "-F", "--file"])("php %s without a file is unknown, and names no word", (option) => {
    const php = interpreterTables.find(({ family }) => family === "php");
    if (php === undefined) throw new Error("no table of php");
    expect(scanArguments(php, [option]).finding).toMatchObject({ kind: "unknown", word: option });
    expect(scanArguments(php, [option, "x"]).finding).toEqual({ kind: "target", index: 1 });
  });

  it("names of options are never members of Object.prototype", () => {
    for (const each of interpreterTables) {
      for (const word of ["--constructor", "--__proto__", "constructor", "-constructor", "toString"]) {
        const { finding } = scanArguments(each, [word, "x"]);
        expect(["unknown", "target", "module", "named", "code", "missing", "elsewhere"]).toContain(finding.kind);
      }
    }
  });

  it("ends on any words, and what it names is one of them", () => {
    const word = fc.oneof(
      fc.stringMatching(/^-{0,2}[a-zA-Z=.+-]{0,12}$/),
      fc.constantFrom("--", "-", "", "run", "-c", "-m", "-e", "--import", "-X", "s.js"),
    );
    fc.assert(
      fc.property(fc.constantFrom(...interpreterTables), fc.array(word, { maxLength: 8 }), (each, words) => {
        const { finding, preloads } = scanArguments(each, words);
        if (finding.kind === "target") expect(finding.index).toBeLessThan(words.length);
        for (const preload of preloads) {
          expect(preload === "" || words.some((text) => text.endsWith(preload))).toBe(true);
        }
      }),
      { numRuns: runs(100_000) },
    );
  });
});

/**
 * Holds a table against the interpreter itself. Each option is given together with two scripts: the one that printed its
 * name is what ran. An option that this version refuses, or that ends before any script runs, tells nothing.
 */
function check(file: string, each: InterpreterTable, option: string, suffix: string): string | undefined {
  const folder = testFolder({
    [`first${suffix}`]: script(suffix, "first"),
    [`second${suffix}`]: script(suffix, "second"),
  });
  const words = [option, `first${suffix}`, `second${suffix}`];
  const run = spawnSync(file, words, {
    cwd: folder,
    encoding: "utf8",
    timeout: 20_000,
    input: "",
    env: { PATH: dirname(file) },
  });
  const ran = /(first|second)-ran/.exec(run.stdout)?.[1];
  if (ran === undefined || run.status !== 0) return undefined;
  const { finding } = scanArguments(each, words);
  // Not knowing is always allowed: it refuses.
  if (finding.kind !== "target") return undefined;
  return words[finding.index] === `${ran}${suffix}`
    ? undefined
    : `${option} ran ${ran}, the table says ${words[finding.index]}`;
}

const isSoak = process.env["BERTH_SOAK"] === "1";

/** The Node binaries that `node scripts/parts.mjs node` brought. */
function otherNodes(): readonly string[] {
  const folder = join(scratchFolder, "node");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((major) =>
    join(folder, major, "node_modules", `node-linux-${process.arch}`, "bin/node"),
  );
}

/** Options that would wait for a debugger, a change or input, or write a snapshot. */
const waits = /^(?:--inspect-(?:brk|wait)|--watch|--test|--build-snapshot|--interactive|-i)$/;

function optionsOf(file: string, node: InterpreterTable): readonly string[] {
  const help = spawnSync(file, ["--help"], { encoding: "utf8" }).stdout;
  const listed = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z0-9-]+)|^ {2}(-\w)(?=[, ])/gm)].map(
    (match) => match[1] ?? match[2] ?? "",
  );
  const allowed = spawnSync(file, ["-p", "[...process.allowedNodeEnvironmentFlags].join(' ')"], {
    encoding: "utf8",
  }).stdout;
  const options = new Set([...listed, ...allowed.trim().split(" "), ...node.flags, ...Object.keys(node.values)]);
  return [...options].filter((option) => !waits.test(option) && !option.includes("="));
}

const script = (suffix: string, name: string): string =>
  suffix === ".py" ? `print("${name}-ran")\n` : `process.stdout.write("${name}-ran");\n`;

describe("the tables agree with the interpreters", () => {
  it("of Node: every option that it lists, and every one in the table", { timeout: 600_000 }, () => {
    const node = table("node");
    const versions = isSoak ? [nodePath, ...otherNodes()] : [nodePath];
    for (const file of versions) {
      const options = optionsOf(file, node);
      const sample = options.filter((_, index) => isSoak || index % 6 === 0);
      const faults = sample.map((option) => check(file, node, option, ".js")).filter((fault) => fault !== undefined);
      console.info(`${sample.length} of ${options.length} options of ${file} were tried`);
      expect(faults).toEqual([]);
    }
  });

  partTest("python3")(
    "of Python: every letter, and every pair of letters",
    () => {
      const python = table("python");
      const letters = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ?"];
      const pairs = letters.flatMap((first) => [..."uIEWXm"].map((second) => `-${first}${second}`));
      const chosen = pairs.filter((_, index) => isSoak || index % 20 === 0);
      const options = [...letters.map((letter) => `-${letter}`), ...chosen, "--check-hash-based-pycs"];
      const faults = options
        .map((option) => check(pythonPath(), python, option, ".py"))
        .filter((fault) => fault !== undefined);
      console.info(`${chosen.length} of ${pairs.length} pairs of Python's letters were tried`);
      expect(faults).toEqual([]);
    },
    240_000,
  );
});
