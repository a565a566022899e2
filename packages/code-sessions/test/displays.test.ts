import { describe, expect, it } from "vitest";
import { openLocalSession } from "./guests/local-session.js";

describe("a display", () => {
  it.each([
    { method: "_repr_html_", value: "'<b>x</b>'", data: { "text/html": "<b>x</b>" } },
    { method: "_repr_svg_", value: "'<svg/>'", data: { "image/svg+xml": "<svg/>" } },
    { method: "_repr_png_", value: "b'\\x89PNG'", data: { "image/png": "iVBORw==" } },
    { method: "_repr_jpeg_", value: "b'\\xff\\xd8'", data: { "image/jpeg": "/9g=" } },
    { method: "_repr_json_", value: "{'a': [1]}", data: { "application/json": '{"a": [1]}' } },
    { method: "_repr_markdown_", value: "'*x*'", data: { "text/markdown": "*x*" } },
    { method: "_repr_latex_", value: "'$x$'", data: { "text/latex": "$x$" } },
  ])("has the form of $method beside the plain text", async ({ method, value, data }) => {
    const { run } = await openLocalSession();
    const told = await run(`class V:\n  def __repr__(self): return 'V!'\n  def ${method}(self): return ${value}\nV()`);
    expect(told).toMatchObject({ status: "ok", result: "V!", displaysDropped: 0 });
    expect(told.displays).toEqual([{ kind: "result", data: { "text/plain": "V!", ...data } }]);
  });

  it("has all forms of a mimebundle, binary ones in base64", async () => {
    const { run } = await openLocalSession();
    const bundle = "{'text/html': '<i>', 'image/png': b'png', 'application/x': {'n': 1}, 3: 'no'}, {'meta': 1}";
    const told = await run(
      `class V:\n  def _repr_mimebundle_(self, include=None, exclude=None): return ${bundle}\nV()`,
    );
    expect(told.displays[0]?.data).toMatchObject({
      "text/html": "<i>",
      "image/png": "cG5n",
      "application/x": '{"n": 1}',
    });
  });

  it("is made by display(), in order with what is printed, and raw for mappings", async () => {
    const { run } = await openLocalSession();
    const events: string[] = [];
    const told = await run("print('a')\ndisplay(1, 'two')\nprint('b')\ndisplay({'text/html': '<p>'}, raw=True)", {
      onOutput: (event) => events.push(event.kind === "display" ? JSON.stringify(event.display.data) : event.text),
    });
    expect(told.result).toBeUndefined();
    expect(told.displays).toEqual([
      { kind: "display", data: { "text/plain": "1" } },
      { kind: "display", data: { "text/plain": "'two'" } },
      { kind: "display", data: { "text/html": "<p>" } },
    ]);
    expect(events.join("").replaceAll("\n", "")).toBe(`a{"text/plain":"1"}{"text/plain":"'two'"}b{"text/html":"<p>"}`);
  });

  it("whose method fails is shown in its other forms; an object that answers to every name has none", async () => {
    const { run } = await openLocalSession();
    const told = await run("class V:\n  def _repr_html_(self): 1/0\n  def _repr_svg_(self): return '<svg/>'\nV()");
    expect(Object.keys(told.displays[0]?.data ?? {})).toEqual(["text/plain", "image/svg+xml"]);
    const all = await run("class All:\n  def __getattr__(self, name): return lambda *a: 'x'\nAll()");
    expect([all.status, all.displays]).toEqual(["ok", []]);
  });

  it("over maxDisplayBytes is dropped and counted, and so are more than a thousand", async () => {
    const { run } = await openLocalSession({ limits: { maxDisplayBytes: 100_000 } });
    const told = await run("display('a' * 60_000)\ndisplay('b' * 60_000)\ndisplay('c')");
    expect([told.displays.length, told.displaysDropped]).toEqual([2, 1]);
    expect((await run("for i in range(1_003): display(i)")).displaysDropped).toBe(3);
  });

  it("of a very long value is cut", async () => {
    const { run } = await openLocalSession();
    const { result } = await run("'a' * 5_000_000");
    expect(result?.length).toBeLessThan(1_050_000);
    expect(result).toMatch(/characters more$/);
  });

  it("is made of each figure of matplotlib, at the end of the call", async () => {
    const { run, session } = await openLocalSession();
    // As much of matplotlib as is asked of it: the real one is tried where it is installed.
    const pyplot = [
      "import os",
      "assert os.environ['MPLBACKEND'] == 'Agg'",
      "_open = {}",
      "class Figure:",
      "    def savefig(self, file, format, bbox_inches): file.write(b'png')",
      "    def __repr__(self): return '<Figure>'",
      "def figure(n=None):",
      "    n = n or len(_open) + 1",
      "    return _open.setdefault(n, Figure())",
      "def get_fignums(): return list(_open)",
      "def close(which): _open.clear()",
    ].join("\n");
    await session.files.write("matplotlib/pyplot.py", new TextEncoder().encode(pyplot));
    const told = await run("import matplotlib.pyplot as plt\nplt.figure()\nplt.figure();");
    const figure = { kind: "display", data: { "image/png": "cG5n", "text/plain": "<Figure>" } };
    expect([told.displays, told.result]).toEqual([[figure, figure], undefined]);
    expect((await run("1")).displays).toEqual([]);
  });
});
