import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../../../fixtures/processor-time.js";
import { type CutLine, createAnswerLines, EDGE_BYTES } from "../../src/worker/answer-lines.js";
import { findCutId, looksLikeFrame, readAnswer } from "../../src/worker/read-answer.js";
import { hookTask, openStub } from "./workers.js";

const limits = { maxContentBytes: 4_096 };

describe("what is printed among the answers", () => {
  it.each([
    {
      name: "noise lines, blank ones, lists, JSON without an id, foreign ids, bytes that are no text",
      behaviour: "Noisy",
    },
    { name: "ten thousand lines", behaviour: "Flood", payload: { lines: 10_000 } },
    {
      name: "a print without a line end, glued to the answer",
      behaviour: "Glued",
      payload: { text: "loading 42 % ... " },
    },
    { name: "a glued print with braces", behaviour: "Glued", payload: { text: '{"a": {"b": 1} and {' } },
    { name: "a glued object that is whole", behaviour: "Glued", payload: { text: '{"a": {"b": 1}}' } },
    {
      name: "a glued beginning of an answer",
      behaviour: "Glued",
      payload: { text: '{"request_id": "x", "status": "error' },
    },
  ])("$name: does not desync", async ({ behaviour, payload }) => {
    const worker = openStub();
    const answers = [
      worker.call(hookTask("Echo", { n: 1 })),
      worker.call(hookTask(behaviour, payload)),
      worker.call(hookTask("Echo", { n: 2 })),
    ];
    const [first, noisy, last] = await Promise.all(answers);
    expect(first).toMatchObject({ metadata: { task: { payload: { n: 1 } } } });
    expect(noisy).toMatchObject({ continue_processing: true });
    expect(last).toMatchObject({ metadata: { task: { payload: { n: 2 } } } });
  });

  it("a noise line reaches the log, cut, and the answer reaches its caller", async () => {
    const log: string[] = [];
    const worker = openStub({ onLog: (line) => log.push(line) });
    await worker.call(hookTask("Noisy"));
    expect(log).toContain("stdout: loading the model");
    expect(log.every((line) => line.length < 2_000)).toBe(true);
  });

  it("a second answer to one task is nobody's", async () => {
    const worker = openStub();
    expect(await worker.call(hookTask("Twice"))).toMatchObject({ metadata: { which: "first" } });
    expect(await worker.call(hookTask("Echo"))).toMatchObject({ metadata: { hook: "tool_pre_invoke" } });
  });

  it.each([
    { name: "an answer without status is a success", text: '{"metadata":{"a":1},"request_id":"$ID"}\n' },
    { name: "a carriage return before the line feed is trimmed", text: '{"metadata":{"a":1},"request_id":"$ID"}\r\n' },
    { name: "white space around it is trimmed", text: '  {"metadata":{"a":1},"request_id":"$ID"} \t\n' },
    { name: "a last line without a line end counts", text: '{"metadata":{"a":1},"request_id":"$ID"}', then_exit: 0 },
  ])("$name", async ({ text, then_exit }) => {
    const worker = openStub();
    const payload = then_exit === undefined ? { text } : { text, then_exit };
    expect(await worker.call(hookTask("Raw", payload))).toEqual({ metadata: { a: 1 } });
  });
});

describe("sizes", () => {
  it("an oversize task is refused before it is sent", async () => {
    const worker = openStub({ limits });
    const refused = worker.call(hookTask("Echo", { fill: "x".repeat(5_000) }));
    await expect(refused).rejects.toMatchObject({
      code: "TASK_TOO_LARGE",
      message: expect.stringMatching(/^the task takes \d+ bytes, the limit is 4096/u),
      details: { limitBytes: 4_096 },
    });
    expect(worker.state).toBe("idle");
  });

  it("a task is measured in bytes, not in characters", async () => {
    const worker = openStub({ limits });
    await expect(worker.call(hookTask("Echo", { fill: "ä".repeat(3_000) }))).rejects.toMatchObject({
      code: "TASK_TOO_LARGE",
    });
  });

  it("an answer of exactly the limit arrives, one byte more does not, and the next one does", async () => {
    const worker = openStub({ limits });
    expect(await worker.call(hookTask("Exact", { bytes: 4_096 }))).toHaveProperty("metadata");
    await expect(worker.call(hookTask("Exact", { bytes: 4_097 }))).rejects.toMatchObject({
      code: "RESPONSE_TOO_LARGE",
      message: expect.stringMatching(/^the answer has 4097 bytes, the limit is 4096/u),
      details: { sizeBytes: 4_097, limitBytes: 4_096 },
    });
    expect(await worker.call(hookTask("Echo"))).toHaveProperty("metadata");
  });

  it("an oversize answer is found by the id at its end, and is not kept", async () => {
    const worker = openStub({ limits });
    await worker.call(hookTask("Echo"));
    const before = process.memoryUsage().rss;
    const refused = worker.call(hookTask("Huge", { chars: 150_000_000, raw: true }));
    await expect(refused).rejects.toMatchObject({ code: "RESPONSE_TOO_LARGE", details: { limitBytes: 4_096 } });
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it("an answer over the limit that is reported without id goes to the call that runs", async () => {
    const worker = openStub({ limits });
    const refused = worker.call(hookTask("Raw", { text: '{"fill":"$FILL"}\n' }));
    await expect(refused).rejects.toMatchObject({
      code: "RESPONSE_TOO_LARGE",
      message: expect.stringContaining("names no call"),
    });
  });

  it("a noise line over the limit is passed over", async () => {
    const log: string[] = [];
    const worker = openStub({ limits, onLog: (line) => log.push(line) });
    const text = '$FILL\n{"request_id":"$ID"}\n';
    expect(await worker.call(hookTask("Raw", { text }))).toEqual({});
    expect(log).toContain("stdout: a line of 9000 bytes was passed over");
  });

  it("an endless line without an end costs its two ends", async () => {
    const worker = openStub({ limits: { ...limits, callTimeoutMs: 3_000 } });
    await worker.call(hookTask("Echo"));
    const before = process.memoryUsage().rss;
    const late = worker.call(hookTask("Endless", { bytes: 300_000_000 }));
    await expect(late).rejects.toMatchObject({ code: "WORKER_TIMEOUT" });
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });
});

describe("lines", () => {
  const collect = (maxLineBytes: number) => {
    const lines: string[] = [];
    const cut: CutLine[] = [];
    const splitter = createAnswerLines(maxLineBytes, {
      onLine: (bytes) => lines.push(bytes.toString("latin1")),
      onCut: (line) => cut.push(line),
    });
    return { splitter, lines, cut };
  };

  it("are the same however the bytes are cut", () => {
    const piece = fc.array(fc.constantFrom("a", "b", "\n", "\r", "é"), { maxLength: 60 });
    fc.assert(
      fc.property(piece, fc.array(fc.nat(20), { maxLength: 30 }), (parts, sizes) => {
        const bytes = Buffer.from(parts.join(""), "utf8");
        const [whole, cutUp] = [collect(8), collect(8)];
        whole.splitter.push(bytes);
        let from = 0;
        for (const size of [...sizes, bytes.length]) {
          cutUp.splitter.push(bytes.subarray(from, from + size));
          from = Math.min(bytes.length, from + size);
        }
        whole.splitter.end();
        cutUp.splitter.end();
        expect(cutUp.lines).toEqual(whole.lines);
        expect(cutUp.cut).toEqual(whole.cut);
      }),
    );
  });

  it("over the limit keep their size and both ends", () => {
    const { splitter, cut, lines } = collect(10_000);
    splitter.push(Buffer.from(`begin${"x".repeat(20_000)}`));
    splitter.push(Buffer.from("y".repeat(3_000)));
    splitter.push(Buffer.from("end\nnext\n"));
    expect(cut).toMatchObject([{ byteLength: 23_008 }]);
    expect(cut[0]?.head.toString()).toMatch(/^beginx+$/u);
    expect(cut[0]?.tail.toString()).toMatch(/^x+y{3000}end$/u);
    expect(cut[0]?.tail.length).toBe(EDGE_BYTES);
    expect(lines).toEqual(["next"]);
  });
});

describe("an id", () => {
  const edge = (head: string, tail: string): CutLine => ({
    byteLength: 9_999,
    head: Buffer.from(head),
    tail: Buffer.from(tail),
  });
  it.each([
    {
      name: "is recovered from the end of a cut frame",
      line: edge('{"a":', '"x"}, "request_id": "one"}'),
      found: "one",
    },
    { name: "is recovered from its beginning", line: edge('{"request_id":"two",', 'xx"}'), found: "two" },
    { name: "is reported absent", line: edge('{"a":', 'xx"}'), found: undefined },
    { name: "of nobody is reported absent", line: edge('{"a":', '"request_id":"three"}'), found: undefined },
  ])("$name", ({ line, found }) => {
    expect(findCutId(line, ["one", "two"])).toBe(found);
    expect(looksLikeFrame(line)).toBe(true);
  });

  it("of a frame behind any print is found, when the print ends before it", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (print) => {
        const line = `${print.replaceAll("\n", "")}{"metadata":{"deep":{"er":[{}]}},"request_id":"one"}`;
        expect(readAnswer(Buffer.from(line), ["one"])).toMatchObject({ is: "frame", id: "one" });
      }),
    );
  });

  it("is looked for in bounded time in a line of a million braces", () => {
    const line = Buffer.from(`${'{"a":'.repeat(200_000)}"one"`);
    const took = processorMs(() => expect(readAnswer(line, ["one"])).toEqual({ is: "noise" }));
    expect(took).toBeLessThan(2_000);
  });
});
