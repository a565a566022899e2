import { execFileSync } from "node:child_process";
import { describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { openLocalSession } from "./guests/local-session.js";

/** The interpreter itself: what PATH has may be a script that finds it. */
function interpreterOf(name: string): string {
  return execFileSync(name, ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
}

const everything = `
import asyncio, os, sys, threading
print("out"); print("err", file=sys.stderr)
os.system("echo child")
await asyncio.sleep(0.001)
display("shown")
lines = !echo line
thread = threading.Thread(target=print, args=("thread",))
thread.start(); thread.join()
pid = os.fork()
if pid == 0: print("forked")
else: os.waitpid(pid, 0)
lines
`;

describe.each(["python3", "python3.10", "python3.12", "python3.13"] as const)("with %s", (name) => {
  partTest(name)("a session does all that it promises", async () => {
    const interpreter = interpreterOf(name === "python3" ? "/usr/bin/python3" : name);
    const { run, session, begin } = await openLocalSession({ interpreter });
    const told = await run(everything);
    expect(told).toMatchObject({
      status: "ok",
      result: "['line']",
      stderr: { text: "err\n" },
      displays: [{ kind: "display" }],
    });
    expect(told.stdout.text.split("\n").sort()).toEqual(["", "child", "forked", "out", "thread"]);
    const failed = await run("def f(): return 1/0\ntry: f()\nexcept Exception as e: raise KeyError('k') from e");
    expect(failed.fault).toMatchObject({ name: "KeyError", message: "'k'" });
    expect(failed.fault?.traceback).toMatch(/line 1, in f[\s\S]*def f\(\): return 1\/0[\s\S]*direct cause/);
    expect(failed.fault?.traceback).not.toContain("berth");
    const { outcome } = await begin("while True: n = 1");
    await session.files.write("x", new TextEncoder().encode("y"));
    expect((await session.variables()).map((variable) => variable.name)).toContain("lines");
    session.interrupt();
    expect((await outcome).status).toBe("interrupted");
    expect((await run("open('x').read()")).result).toBe("'y'");
    expect((await run("import os\nos._exit(3)")).reason).toContain("status 3");
  });
});
