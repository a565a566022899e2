import { describe, expect, it } from "vitest";
import { openLocalSession } from "./guests/local-session.js";

describe("an exception of the code", () => {
  it("is told with name, message and a traceback of the caller's frames alone", async () => {
    const { run } = await openLocalSession();
    await run("def half(x):\n    return 1 / x\n");
    const { status, fault, result } = await run("y = 0\nhalf(y)");
    expect([status, result, fault?.name, fault?.message]).toEqual([
      "error",
      undefined,
      "ZeroDivisionError",
      "division by zero",
    ]);
    const lines = fault?.traceback.split("\n").filter((line) => !/^\s*[~^]+$/.test(line));
    expect(lines).toEqual([
      "Traceback (most recent call last):",
      '  File "<cell 2>", line 2, in <module>',
      "    half(y)",
      '  File "<cell 1>", line 2, in half',
      "    return 1 / x",
      "ZeroDivisionError: division by zero",
      "",
    ]);
  });

  it("runs once, keeps what was printed before, and the session goes on", async () => {
    const { run } = await openLocalSession();
    await run("runs = 0");
    const told = await run("runs += 1\nprint('before')\nraise ValueError('no')");
    expect([told.status, told.stdout.text]).toEqual(["error", "before\n"]);
    expect((await run("runs")).result).toBe("1");
  });

  it.each([
    { name: "syntax", code: "x = (", fault: "SyntaxError", shows: 'File "<cell 1>", line 1' },
    {
      name: "syntax, beside what looks like a magic",
      code: "x = (1\ny = (2\n%b)",
      fault: "SyntaxError",
      shows: "line 1",
    },
    { name: "indentation", code: "if x:\npass", fault: "IndentationError", shows: "line 2" },
    { name: "the end of the interpreter", code: "raise SystemExit(3)", fault: "SystemExit", shows: "SystemExit: 3" },
    { name: "exit()", code: "exit()", fault: "SystemExit", shows: "SystemExit" },
    { name: "an own interrupt", code: "raise KeyboardInterrupt", fault: "KeyboardInterrupt", shows: "Interrupt" },
    { name: "a bare BaseException", code: "raise BaseException('b')", fault: "BaseException", shows: "b" },
    { name: "deep recursion", code: "def r(n): return r(n + 1)\nr(0)", fault: "RecursionError", shows: "repeated" },
    { name: "no memory", code: "bytearray(1 << 62)", fault: "MemoryError", shows: "MemoryError" },
    {
      name: "a message that fails",
      code: "class E(Exception):\n  def __str__(self): 1/0\nraise E()",
      fault: "E",
      shows: "E",
    },
    {
      name: "a value that cannot be shown",
      code: "class V:\n  def __repr__(self): 1/0\nV()",
      fault: "ZeroDivisionError",
      shows: "__repr__",
    },
    {
      name: "an await that fails",
      code: "import asyncio\nawait asyncio.wait_for(asyncio.sleep(9), 0.01)",
      fault: "TimeoutError",
      shows: "Timeout",
    },
    { name: "a lone surrogate", code: "raise ValueError('\\ud800')", fault: "ValueError", shows: "ValueError" },
  ])("of any kind leaves the session alive: $name", async ({ code, fault, shows }) => {
    const { run } = await openLocalSession();
    const told = await run(code);
    expect([told.status, told.fault?.name]).toEqual(["error", fault]);
    expect(told.fault?.traceback).toContain(shows);
    expect(told.fault?.traceback).not.toContain("berth_worker");
    expect(told.fault?.traceback).not.toContain("\u001b");
    expect((await run("1 + 1")).result).toBe("2");
  });

  it("shows what it came from, and what it groups", async () => {
    const { run } = await openLocalSession();
    const chained = await run("try:\n    1/0\nexcept Exception as e:\n    raise ValueError('v') from e");
    expect(chained.fault?.traceback).toMatch(/ZeroDivisionError[\s\S]*direct cause[\s\S]*ValueError: v/);
    const during = await run("try:\n    1/0\nexcept Exception:\n    undefined_name");
    expect(during.fault?.traceback).toMatch(/During handling[\s\S]*NameError/);
    expect(`${chained.fault?.traceback}${during.fault?.traceback}`).not.toContain("berth_worker");
  });

  it("shows lines of library files too", async () => {
    const { run } = await openLocalSession();
    expect((await run("import json\njson.loads('{')")).fault?.traceback).toMatch(
      /decoder\.py", line \d+, in [\s\S]*JSONDecodeError/,
    );
  });

  it("has terminal colours only when asked for", async () => {
    const { run } = await openLocalSession();
    expect((await run("1/0", { colours: true })).fault?.traceback).toContain("\u001b[1;31mZeroDivisionError");
    expect((await run("1/0")).fault?.traceback).not.toContain("\u001b");
  });

  it("is cut in the middle when it is very long", async () => {
    const { run } = await openLocalSession();
    const { fault } = await run("raise ValueError('a' * 10_000_000)");
    expect(fault?.message.length).toBeLessThan(70_000);
    expect(fault?.message).toContain("characters left out");
    expect(fault?.traceback.length).toBeLessThan(270_000);
  });

  it("shows its source through inspect", async () => {
    const { run } = await openLocalSession();
    const own = "import inspect\ndef g(): return 6\nprint(inspect.getsource(g))";
    expect((await run(own)).stdout.text).toBe("def g(): return 6\n\n");
    await run("def f():\n    return 5\n");
    expect((await run("import inspect\nprint(inspect.getsource(f))")).stdout.text).toBe("def f():\n    return 5\n\n");
  });
});
