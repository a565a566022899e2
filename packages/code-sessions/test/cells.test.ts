import { describe, expect, it } from "vitest";
import { openLocalSession } from "./guests/local-session.js";

describe("a cell", () => {
  it.each([
    { name: "a number", code: "1 + 1", result: "2" },
    { name: "a text", code: "'naïve 😀'", result: "'naïve 😀'" },
    { name: "None", code: "None", result: undefined },
    { name: "an assignment", code: "x = 1", result: undefined },
    { name: "an expression that is not the last", code: "1\nx = 2", result: undefined },
    { name: "an expression with a semicolon behind it", code: "5;", result: undefined },
    { name: "an expression whose comment ends with a semicolon", code: "5  # no;", result: undefined },
    { name: "an expression with an escape", code: "'a\\tb'", result: "'a\\tb'" },
    { name: "a tuple that is unpacked", code: "*[1], 2", result: "(1, 2)" },
    { name: "nothing", code: "", result: undefined },
    { name: "a comment", code: "# nothing", result: undefined },
    { name: "an expression over several lines", code: "x = [\n 1,\n 2,\n]\n(\n sum(x)\n)\n", result: "3" },
    { name: "the value before", code: "_ = 3\n_", result: "3" },
  ])("gives the value of its last expression: $name", async ({ code, result }) => {
    const { run } = await openLocalSession();
    expect(await run(code)).toMatchObject({ status: "ok", result, fault: undefined, count: 1, displays: [] });
  });

  it("keeps names, imports and functions for the next one", async () => {
    const { run } = await openLocalSession();
    await run("import math\nx = 4\ndef root(n):\n    return math.sqrt(n)");
    expect((await run("root(x)")).result).toBe("2.0");
    expect((await run("_ + 1")).result).toBe("3.0");
    expect((await run("__name__")).result).toBe("'__main__'");
    expect((await run("import pickle\nclass A: pass\ntype(pickle.loads(pickle.dumps(A()))).__name__")).result).toBe(
      "'A'",
    );
  });

  it("finds modules of the workspace and of the interpreter, and packages that were installed meanwhile", async () => {
    const { run, session } = await openLocalSession();
    const text = (source: string): Uint8Array => new TextEncoder().encode(source);
    await session.files.write("mine.py", text("answer = 42"));
    expect((await run("import mine\nmine.answer")).result).toBe("42");
    expect((await run("import sys\nany(p.endswith('-packages') for p in sys.path)")).result).toBe("True");
    await session.files.write(".berth/packages/installed.py", text("answer = 43"));
    expect((await run("import installed\ninstalled.answer")).result).toBe("43");
    await session.files.write(".berth/packages/later.py", text("answer = 44"));
    expect((await run("import later\nlater.answer")).result).toBe("44");
  });

  it("awaits at its top, on one loop for the whole session", async () => {
    const { run } = await openLocalSession();
    await run("import asyncio\nasync def later(x):\n    await asyncio.sleep(0.001)\n    return x");
    expect((await run("await later(7)")).result).toBe("7");
    await run("lock = asyncio.Lock()\nawait lock.acquire()\ntask = asyncio.create_task(later(8))");
    expect((await run("lock.release()\nawait task")).result).toBe("8");
    expect((await run("[x async for x in aiter_() ]", {})).fault?.name).toBe("NameError");
    expect((await run("asyncio.run(later(9))")).result).toBe("9");
    expect((await run("await later(10)")).result).toBe("10");
  });

  it("runs lines that begin with ! in a shell, and gives their lines where they are assigned", async () => {
    const { run } = await openLocalSession();
    const told = await run("print('a')\n!echo b; echo c >&2\nlines = !printf 'x\\ny\\n'\nif True:\n    !echo d\nlines");
    expect(told).toMatchObject({ status: "ok", result: "['x', 'y']" });
    expect([told.stdout.text, told.stderr.text]).toEqual(["a\nb\nd\n", "c\n"]);
    expect((await run("!exit 3\n")).status).toBe("ok");
    expect((await run("_exit_code")).result).toBe("3");
    expect((await run("text = '''\n!echo no\n'''\n!echo yes\ntext")).result).toBe("'\\n!echo no\\n'");
    expect((await run("!echo it's \"fine\n")).status).toBe("ok");
    expect((await run("!echo one \\\n two")).stdout.text).toBe("one two\n");
  });

  it.each([
    { code: "%pip install x", says: "operator" },
    { code: "import os\n%matplotlib inline", says: "figures are shown by themselves" },
    { code: "%%bash\nls", says: "`!`" },
    { code: "%%bash\necho it's \"fine", says: "%%bash" },
    { code: "x = %who", says: "%who is not supported" },
    { code: "len?", says: "help(len)" },
    { code: "?len", says: "help(len)" },
  ])("refuses $code with advice", async ({ code, says }) => {
    const { run } = await openLocalSession();
    const told = await run(code);
    expect(told).toMatchObject({ status: "error", fault: { name: "UnsupportedSyntax" } });
    expect(told.fault?.message).toContain(says);
    expect(told.fault?.traceback).not.toContain("During handling");
  });

  it.each([
    { code: "input('name? ')", says: "input() is not available" },
    { code: "breakpoint()", says: "breakpoint() is not available" },
  ])("refuses what needs a keyboard: $code", async ({ code, says }) => {
    const { run } = await openLocalSession();
    const told = await run(code);
    expect(told).toMatchObject({ status: "error", fault: { name: "RuntimeError" } });
    expect(told.fault?.message).toContain(says);
  });

  it("finds the end of input where a keyboard would be", async () => {
    const { run } = await openLocalSession();
    expect((await run("import sys\nsys.stdin.read()")).result).toBe("''");
  });
});
