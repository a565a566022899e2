import { describe, expect, it } from "vitest";
import { openLocalSession } from "./guests/local-session.js";

describe("variables of a session", () => {
  it("are what code has named, with type, size and the beginning of what it holds", async () => {
    const { session, run } = await openLocalSession();
    expect(await session.variables()).toEqual([]);
    await run(
      [
        "import math",
        "n, f, t, b, none = 1, 1.5, 'text', b'bytes', None",
        "items, pair, one, names, table, empty = [1, [2, [3, [4]]]], (1, 'a'), (1,), {'x'}, {'k': [1]}, []",
        "def function(): pass",
        "class Class: pass",
        "thing = Class()",
        "_hidden = 1",
        "big = 10 ** 5000",
      ].join("\n"),
    );
    const told = Object.fromEntries(
      (await session.variables()).map(({ name, type, preview }) => [name, `${type} ${preview}`]),
    );
    expect(told).toEqual({
      ...{
        math: "module <module math>",
        n: "int 1",
        f: "float 1.5",
        t: "str 'text'",
        b: "bytes b'bytes'",
        none: "NoneType None",
      },
      ...{ items: "list [1, [2, [3, […]]]]", pair: "tuple (1, 'a')", one: "tuple (1,)", names: "set {'x'}" },
      ...{ table: "dict {'k': [1]}", empty: "list []", function: "function <function function>" },
      ...{ Class: "type <class Class>", thing: "Class ", big: "int <int of 16610 bits>" },
    });
  });

  it("are listed without running the code of what they hold", async () => {
    const { session, run } = await openLocalSession();
    const traps = [
      "__repr__",
      "__str__",
      "__sizeof__",
      "__len__",
      "__iter__",
      "__class__",
      "__hash__",
      "__eq__",
      "__getattribute__",
      "__name__",
    ];
    const methods = traps
      .map((name) => `    def ${name}(self, *a): ran.append('${name}'); raise SystemExit`)
      .join("\n");
    await run(
      `ran = []\nclass Meta(type):\n${methods}\n    __name__ = property(lambda self: ran.append('name'))\nclass Trap:\n${methods}\nclass L(list):\n${methods}`,
    );
    await run("class Metaed(metaclass=Meta): pass\ntrap, deep, own = Trap(), [Trap()], L([1])\nmade = Metaed()");
    await run("ran.clear()");
    const told = await session.variables();
    expect(told.find(({ name }) => name === "deep")?.preview).toBe("[<Trap>]");
    expect(told.find(({ name }) => name === "own")).toMatchObject({ type: "L", preview: "", sizeBytes: undefined });
    expect((await run("ran")).result).toBe("[]");
  });

  it("are bounded in number and length, and told while code runs", async () => {
    const { session, run, begin } = await openLocalSession();
    await run(
      "for i in range(1_500): globals()[f'v{i:04}'] = 'x' * 10_000_000 if i == 0 else i\nglobals()[5] = 'no name'",
    );
    const { outcome } = await begin("while True: globals()['w'] = 1");
    const told = await session.variables();
    expect(told).toHaveLength(1_000);
    expect(Math.max(...told.map(({ preview }) => preview.length))).toBeLessThanOrEqual(200);
    expect(told.find(({ name }) => name === "v0000")?.sizeBytes).toBeGreaterThan(10_000_000);
    session.interrupt();
    await outcome;
  });

  it("are listed however long their names are", async () => {
    const { session, run } = await openLocalSession();
    await run("globals()['\\U0001d4b3' * 1_000] = 1");
    expect((await session.variables())[0]?.name).toHaveLength(1_000);
    expect((await run("1")).status).toBe("ok");
  });
});
