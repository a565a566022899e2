import { describe, expect, it } from "vitest";
import { openLocalSession } from "./guests/local-session.js";

/** The sleep is cut short by the session's end: without it, the outcome could come before. */
const attackOnChannel = (frame: string): string =>
  [
    "import os, stat",
    "for name in os.listdir('/proc/self/fd'):",
    "    fd = int(name)",
    "    try:",
    "        if fd > 2 and stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, FRAME)",
    "    except OSError: pass",
    "import time",
    "time.sleep(20)",
  ]
    .join("\n")
    .replace("FRAME", frame);

describe("code that touches what it should not", () => {
  it.each([
    { name: "closes 0 to 2", code: "import os\nos.closerange(0, 3)" },
    { name: "closes everything up to 1023", code: "import os\nos.closerange(0, 1024)" },
    {
      name: "points 1 and 2 elsewhere",
      code: "import os\nn = os.open('/dev/null', os.O_RDWR)\nos.dup2(n, 1)\nos.dup2(n, 2)",
    },
    { name: "makes 1 not wait", code: "import os\nos.set_blocking(1, False)" },
    { name: "closes sys.stdout", code: "import sys\nsys.stdout.close()\nsys.__stderr__.close()" },
    { name: "lowers the recursion limit", code: "import sys\nsys.setrecursionlimit(60)" },
    { name: "takes the interrupt's handler", code: "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)" },
    { name: "reads descriptor 0", code: "import os\nassert os.read(0, 10) == b''" },
    { name: "removes builtins", code: "import builtins\ndel builtins.print, builtins.input, builtins.display" },
    { name: "raises from a finalizer", code: "class D:\n  def __del__(self): 1/0\nD()" },
  ])("$name, and the session goes on", async ({ code }) => {
    const { run } = await openLocalSession();
    expect((await run(code)).status).toBe("ok");
    const next = await run(
      "import os, sys, signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nos.write(1, b'one ')\nsys.stderr.write('two')\n3",
    );
    expect(next).toMatchObject({ status: "ok", stdout: { text: "one " }, result: "3" });
    expect(next.stderr.text).toContain("two");
  });

  it.each([
    { name: "shows more characters beyond 16 bits than there is room", code: "display('\\U0001f600' * 5_000_000)" },
    { name: "shows a form with a long media type", code: "display({'x' * 1_001: 'y'}, raw=True)" },
    { name: "shows 65 forms at once", code: "display({f'a/{n}': 'y' for n in range(65)}, raw=True)" },
  ])("$name: that is dropped and counted, and the session goes on", async ({ code }) => {
    const { run } = await openLocalSession();
    expect(await run(code)).toMatchObject({ status: "ok", displays: [], displaysDropped: 1 });
    expect(await run("display('\\U0001f600' * 4)")).toMatchObject({ status: "ok", displaysDropped: 0 });
  });

  it("shows a value whose text lies about its length: it is cut", async () => {
    const { run } = await openLocalSession();
    const lying = "class S(str):\n  def __len__(self): return 5\n";
    const told = await run(`${lying}class A:\n  def __repr__(self): return S('x' * 40_000_000)\nA()`);
    expect(told.status).toBe("ok");
    expect(told.result).toMatch(/… 38951424 characters more$/);
    expect((await run("raise type('E' * 40_000_000, (Exception,), {})")).fault?.name).toHaveLength(1_000);
  });

  it("raises from an alarm every millisecond: every call has its outcome", async () => {
    const { run } = await openLocalSession();
    const alarm = "import signal\ndef f(*a): 1/0\nsignal.signal(signal.SIGALRM, f)\nn = signal.ITIMER_REAL";
    await run(`${alarm}\nsignal.setitimer(n, 0.001, 0.001)`);
    for (let i = 0; i < 30; i += 1)
      expect((await run("for i in range(1000): print(i)")).status).toMatch(/^(ok|error)$/);
  });

  it("forks: the child's output is kept, and it never speaks for its parent", async () => {
    const { run } = await openLocalSession();
    const child = "import os\npid = os.fork()\nif pid == 0:\n    print('child')\n";
    const plain = await run(`${child}else:\n    os.waitpid(pid, 0)\npid > 0`);
    expect(plain).toMatchObject({ status: "ok", result: "True", stdout: { text: "child\n" }, stderr: { text: "" } });
    const raising = await run(`${child}    1/0\nos.waitpid(pid, 0)[1] >> 8`);
    expect(raising).toMatchObject({ status: "ok", result: "1" });
    expect(raising.stderr.text).toContain("ZeroDivisionError");
    const pool = "import multiprocessing as m\nwith m.get_context('fork').Pool(2) as p: r = p.map(abs, [-1, -2])\nr";
    expect(await run(pool)).toMatchObject({ status: "ok", result: "[1, 2]" });
  });

  it.each([
    { name: "bytes that are no frame", frame: "b'nonsense\\n'" },
    { name: "an answer to what was never asked", frame: `b'{"jsonrpc":"2.0","id":99,"result":{}}\\n'` },
    { name: "an answer of another form", frame: `b'{"jsonrpc":"2.0","id":1,"result":{"status":"fine"}}\\n'` },
    { name: "a request", frame: `b'{"jsonrpc":"2.0","id":1,"method":"run"}\\n'` },
    { name: "an unknown notification", frame: `b'{"jsonrpc":"2.0","method":"boo","params":{"call":1}}\\n'` },
    {
      name: "output of another call",
      frame: `b'{"jsonrpc":"2.0","method":"output","params":{"call":7,"stream":1,"text":"x"}}\\n'`,
    },
    {
      name: "more output than the bound",
      frame: `b'{"jsonrpc":"2.0","method":"output","params":{"call":1,"stream":1,"text":"' + b'x' * 2000 + b'"}}\\n'`,
    },
    {
      name: "a display without forms",
      frame: `b'{"jsonrpc":"2.0","method":"display","params":{"call":1,"kind":"display","data":{}}}\\n'`,
    },
    { name: "empty lines without end", frame: "b'\\n' * 60_000_000" },
    { name: "a line without end", frame: "b'x' * 80_000_000" },
    { name: "invalid UTF-8", frame: "b'\\xff\\xfe{}\\n'" },
    {
      name: "deep nesting",
      frame: `b'{"jsonrpc":"2.0","method":"output","params":{"call":' + b'[' * 10000 + b']' * 10000 + b'}}\\n'`,
    },
  ])("speaks on the channel itself: $name ends its own session and nothing else", async ({ frame }) => {
    const limits = { maxOutputBytes: 1_024, interruptMs: 100 };
    const [{ run, session }, other] = await Promise.all([openLocalSession({ limits }), openLocalSession()]);
    const told = await run(attackOnChannel(frame));
    expect(told.status).toBe("dead");
    expect((await session.ended).reason).toBe("protocol");
    await expect(run("1")).rejects.toMatchObject({ code: "SESSION_DEAD", end: { reason: "protocol" } });
    expect((await other.run("1")).result).toBe("1");
  });
});
