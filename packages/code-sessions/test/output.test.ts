import { describe, expect, it } from "vitest";
import type { OutputEvent } from "../src/index.js";
import { openLocalSession } from "./guests/local-session.js";

describe("output", () => {
  it("is split in stdout and stderr, and kept as it was interleaved", async () => {
    const { run } = await openLocalSession();
    const told = await run("import sys\nfor i in range(50):\n    print(i)\n    print(-i, file=sys.stderr)\n3");
    const count = [...Array(50).keys()];
    expect(told.stdout).toEqual({ text: count.map((i) => `${i}\n`).join(""), bytes: 140, truncated: false });
    expect(told.stderr.text).toBe(count.map((i) => `${-i}\n`.replace("-0", "0")).join(""));
    expect(told.output.text).toBe(count.map((i) => `${i}\n${i === 0 ? 0 : -i}\n`).join(""));
    expect(told.result).toBe("3");
  });

  it("comes from prints, descriptors, children and C libraries, in order", async () => {
    const { run } = await openLocalSession();
    const { stdout, stderr, output } = await run(
      [
        "import os, sys, subprocess, ctypes",
        "print('print', end=' ')",
        "os.write(1, b'descriptor ')",
        "os.system('printf child\\ ')",
        "subprocess.run(['/bin/sh', '-c', 'printf popen\\ '])",
        "ctypes.CDLL(None).printf(b'libc ')",
        "sys.stdout.buffer.write(b'buffer ')",
        "print('error', file=sys.stderr, end='')",
        "sys.__stdout__.write('end')",
      ].join("\n"),
    );
    expect([stdout.text, stderr.text]).toEqual(["print descriptor child popen libc buffer end", "error"]);
    expect(output.text).toBe("print descriptor child popen libc buffer errorend");
  });

  it("is told while the code runs, and nothing of it twice", async () => {
    const { run, session } = await openLocalSession();
    let seen = "";
    let first = (): void => undefined;
    const came = new Promise<void>((resolve) => {
      first = resolve;
    });
    const onOutput = (event: OutputEvent): void => {
      if (event.kind === "stdout") seen += event.text;
      first();
    };
    const done = run(
      "import os, time\nprint('now')\nwhile not os.path.exists('go'): time.sleep(0.005)\nprint('then')",
      {
        onOutput,
      },
    );
    await came;
    expect(seen).toMatch(/^now/);
    await session.files.write("go", new Uint8Array());
    const told = await done;
    expect([told.stdout.text, seen]).toEqual(["now\nthen\n", "now\nthen\n"]);
  });

  it("has damaged UTF-8 replaced, and characters whole however they were written", async () => {
    const { run } = await openLocalSession();
    const told = await run(
      "import os\nfor b in '😀é'.encode(): os.write(1, bytes([b]))\nos.write(1, b'\\xff\\xe2\\x82')",
    );
    expect(told.stdout.text).toBe("😀é\ufffd\ufffd");
    expect(told.stdout).toMatchObject({ bytes: 9, truncated: false });
    expect((await run("print('\\ud800', chr(0), '\\x1b[31m')")).stdout.text).toBe("\\ud800 \0 \u001b[31m\n");
  });

  it("over maxOutputBytes is counted, said to be truncated, and whole in a file of the workspace", async () => {
    const { run, session } = await openLocalSession({ limits: { maxOutputBytes: 1_024 } });
    const code = "import sys\nfor i in range(1000): print(f'{i:04}', file=sys.stderr if i % 2 else sys.stdout)";
    const told = await run(code);
    const whole = [...Array(1_000).keys()].map((i) => `${String(i).padStart(4, "0")}\n`).join("");
    expect(told.output).toEqual({ text: whole.slice(0, 1_024), bytes: 5_000, truncated: true });
    expect([told.stdout.bytes, told.stdout.truncated, told.stderr.bytes]).toEqual([2_500, true, 2_500]);
    expect(told.spill).toMatch(/^\.berth\/outputs\/call-\d+\.txt$/);
    expect(new TextDecoder().decode(await session.files.read(told.spill ?? ""))).toBe(whole);
    expect(await run("print('short')")).toMatchObject({ spill: undefined, stdout: { truncated: false } });
  });

  it("that does not fit the spill is counted all the same; without one there is no file", async () => {
    const flood = "import os\nfor _ in range(64): os.write(1, b'x' * 65536)";
    const limits = { maxOutputBytes: 1_024, maxSpillBytes: 10_000 };
    const { run, session } = await openLocalSession({ limits });
    const told = await run(flood);
    expect([told.stdout.bytes, told.stdout.text.length]).toEqual([4_194_304, 1_024]);
    expect((await session.files.read(told.spill ?? "")).length).toBe(10_000);
    const none = await openLocalSession({ limits: { ...limits, maxSpillBytes: 0 } });
    expect(await none.run(flood)).toMatchObject({ spill: undefined, stdout: { bytes: 4_194_304, truncated: true } });
  });

  it("in hundreds of thousands of pieces is put together", async () => {
    const { run } = await openLocalSession();
    const told = await run(
      "import sys\nfor i in range(20_000): print('a', end=''); print('b', end='', file=sys.stderr)",
    );
    expect(told.output.text).toBe("ab".repeat(20_000));
    expect([told.stdout.text, told.stderr.text]).toEqual(["a".repeat(20_000), "b".repeat(20_000)]);
  });

  it("leaves only so many spill files", async () => {
    const { run, session } = await openLocalSession({ limits: { maxOutputBytes: 1_024 } });
    let last: string | undefined;
    for (let i = 0; i < 20; i += 1) last = (await run("print('y' * 5000)")).spill;
    const files = (await session.files.list({ path: ".berth/outputs" })).map(({ path }) => path);
    expect(files).toHaveLength(16);
    expect(files).toContain(last);
  });

  it("that comes when no call runs is told with the next one", async () => {
    const { run } = await openLocalSession();
    await run("import threading\ngo = threading.Event()\nprinted = threading.Event()");
    await run(
      "def later():\n    go.wait()\n    print('late')\n    printed.set()\nt = threading.Thread(target=later)\nt.start()",
    );
    await run("threading.Timer(0.02, go.set).start()");
    const told = await run("printed.wait(5)\nprint('next')");
    expect(told.stdout.text).toBe("late\nnext\n");
  });

  it("of a child that outlives its call does not hold the outcome back", async () => {
    const { run } = await openLocalSession();
    const told = await run("import subprocess\np = subprocess.Popen(['/bin/sh', '-c', 'while :; do echo y; done'])\n1");
    expect(told).toMatchObject({ status: "ok", result: "1" });
    expect((await run("p.kill()\np.wait()")).status).toBe("ok");
  });

  it("is the same when sys.stdout was closed, replaced or redirected before", async () => {
    const { run } = await openLocalSession();
    await run("import sys\nsys.stdout.close()\nsys.stderr.close()");
    expect((await run("print('a')\nprint('b', file=sys.stderr)")).output.text).toBe("a\nb\n");
    await run("import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()) as f: print('hidden')");
    expect((await run("print('shown', f.getvalue())")).stdout.text).toBe("shown hidden\n\n");
  });
});
