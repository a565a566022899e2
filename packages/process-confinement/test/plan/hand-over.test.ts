import { spawn } from "node:child_process";
import { Socket } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { type HandedCommand, handOver, startCommand } from "../../src/plan/start-script.js";
import { readAll } from "../sandboxes.js";

const python = ["/usr/bin/python3", "-I", "-S", "-c"];
const tells = "import os, sys, json; print(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]), end='')";
const plain = fc.string({
  unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)),
  maxLength: 30,
});
const names = fc
  .stringMatching(/^[A-Za-z][A-Za-z0-9]{0,8}$/)
  .filter((name) => handOver(command({ env: [[name, ""]] })) !== undefined);

function command(parts: Partial<HandedCommand>): HandedCommand {
  return { program: ["/bin/true"], env: [], cwd: "/", ...parts };
}

/** Runs the first process of a prepared sandbox, without one, as bubblewrap starts it. */
function startFirst() {
  const [file = "", ...args] = startCommand({ handshake: "handed", forwarder: undefined });
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"], env: { PWD: "/" }, cwd: "/" });
  const [word, ready] = [child.stdio[3], child.stdio[4]];
  if (!(word instanceof Socket) || !(ready instanceof Socket) || child.stdout === null) throw new Error("no pipes");
  return { word, ready, said: readAll(child.stdout), answered: readAll(ready) };
}

describe("a command that is handed over", () => {
  partTest("python3")("has the arguments, the folder and the variables that it was given, and PWD", async () => {
    const variables = fc.uniqueArray(fc.tuple(names, plain), { selector: ([name]) => name, maxLength: 5 });
    const folder = fc.constantFrom("/", "/usr", "/usr/lib");
    await fc.assert(
      fc.asyncProperty(fc.array(plain, { maxLength: 5 }), variables, folder, async (args, env, cwd) => {
        const { word, said, answered } = startFirst();
        word.end(`${handOver({ program: [...python, tells, ...args], env, cwd })}\n`);
        const [seenArgs, seenFolder, { LC_CTYPE: _setByPython, ...seen }] = JSON.parse(await said);
        const { LC_CTYPE: _given, ...given } = Object.fromEntries(env);
        expect([seenArgs, seenFolder, seen]).toEqual([args, cwd, { ...given, PWD: cwd }]);
        expect(await answered).toBe("r\n");
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    { title: "the host died before its word", word: "", status: 125 },
    { title: "the host died in the middle of its word", word: "exec /bin/echo half", status: 125 },
    { title: "the folder is not there", word: `${handOver(command({ cwd: "/not-there" }))}\n`, status: 125 },
    { title: "the program is not there", word: `${handOver(command({ program: ["/not-there"] }))}\n`, status: 127 },
  ])("is not executed when $title", async ({ word, status }) => {
    const first = startFirst();
    first.word.end(word);
    expect(await first.said).toBe("");
    expect(await first.answered).toBe(`r\nx ${status}\n`);
  });

  it.each([
    { title: "an argument of several lines", parts: { program: ["/bin/echo", "a\nb"] } },
    { title: "an argument beyond ASCII", parts: { program: ["/bin/echo", "é"] } },
    { title: "a value that is no plain text", parts: { env: [["A", "\t"]] as const } },
    { title: "more than a line holds", parts: { program: ["/bin/echo", "x".repeat(4_096)] } },
    ...["IFS", "PWD", "OLDPWD", "OPTIND", "PPID", "UID", "BASH_ENV", "_"].map((name) => ({
      title: `the variable ${name}, which a shell reads itself`,
      parts: { env: [[name, "1"]] as const },
    })),
  ])("is not put into a line when it has $title", ({ parts }) => {
    expect(handOver(command(parts))).toBeUndefined();
  });
});
