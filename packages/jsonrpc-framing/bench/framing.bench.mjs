// The framing rows of `npm run bench`: ratios to peers measured in the same run, on the built package.
import { ReadBuffer } from "@modelcontextprotocol/sdk/shared/stdio.js";
import { createLineDecoder, parseMessage, replaceId, scanEnvelope } from "../dist/index.js";

const MIB = 1024 * 1024;
const RUNS = 5;

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {number} ours median milliseconds
 * @property {number} other median milliseconds
 * @property {number} ratio
 * @property {string} target
 * @property {boolean} holds
 * @property {string} [spread] the ratio in each single run, least to most
 */

/** @returns {Promise<Row[]>} */
export async function run() {
  return [...framingRows(), ...relayRows()];
}

function framingRows() {
  const line = Buffer.from(`${JSON.stringify(answer({ type: "text", text: "x".repeat(9 * MIB) }))}\n`);
  const chunks = Array.from({ length: Math.ceil(line.length / 4096) }, (_, i) =>
    line.subarray(4096 * i, 4096 * (i + 1)),
  );
  return [
    atLeast(30, "9 MiB message in 4 KiB chunks to a checked message, against SDK 1.x ReadBuffer", {
      ours: () => parseMessage(decodeOurs(chunks).bytes),
      other: () => decodeSdk(chunks),
      repeat: { ours: 5, other: 1 },
    }),
    atMost(1.2, "9 MiB message in 4 KiB chunks to a frame, against chunk list + concat", {
      ours: () => decodeOurs(chunks),
      other: () => decodeByHand(chunks),
      repeat: { ours: 40, other: 40 },
    }),
  ];
}

function relayRows() {
  const text = { type: "text", text: "The quick brown fox jumps over the lazy dog. ".repeat(MIB / 45) };
  const escaped = { type: "text", text: 'if (a["k"] === "v\\n") {\n\treturn "x";\n}\n'.repeat(MIB / 52) };
  return [
    [20, "one long text", answer(text)],
    [4, "dense JSON", denseAnswer()],
    [2, "escape-heavy text", answer(escaped)],
  ].map(([target, name, message]) => {
    const frame = Buffer.from(JSON.stringify(message));
    return atLeast(
      target,
      `envelope scan and id splice, ${(frame.length / MIB).toFixed(2)} MiB of ${name}, against parse + stringify`,
      {
        ours: () => replaceId(frame, scanEnvelope(frame), 123456),
        other: () => reencode(frame, 123456),
        repeat: { ours: 60, other: 12 },
      },
    );
  });
}

const answer = (block) => ({ result: { content: [block] }, jsonrpc: "2.0", id: 5 });

/** Many small members: numbers, short strings, words, and nesting, as a table or a tree of files has them. */
function denseAnswer() {
  const rows = [];
  for (let size = 0; size < MIB; size += 108) {
    const i = rows.length;
    rows.push({
      id: i,
      name: `item-${i}`,
      tags: ["a", "b"],
      size: i * 37,
      ratio: i / 7,
      ok: i % 2 === 0,
      next: null,
      at: { x: i, y: -i },
    });
  }
  return { result: { structuredContent: { rows } }, jsonrpc: "2.0", id: 5 };
}

function decodeOurs(chunks) {
  const decoder = createLineDecoder();
  for (const chunk of chunks) {
    const [frame] = decoder.push(chunk);
    if (frame !== undefined) return frame;
  }
  throw new Error("no frame");
}

function decodeSdk(chunks) {
  const buffer = new ReadBuffer();
  for (const chunk of chunks) {
    buffer.append(chunk);
    const message = buffer.readMessage();
    if (message !== null) return message;
  }
  throw new Error("no message");
}

/** The least that any line reader does: keep the chunks, search each once, join them once. */
function decodeByHand(chunks) {
  const list = [];
  for (const chunk of chunks) {
    const end = chunk.indexOf(10);
    if (end !== -1) {
      list.push(chunk.subarray(0, end));
      return Buffer.concat(list);
    }
    list.push(chunk);
  }
  throw new Error("no frame");
}

function reencode(frame, id) {
  const message = JSON.parse(frame.toString());
  message.id = id;
  return Buffer.from(JSON.stringify(message));
}

const atLeast = (target, name, work) =>
  row(
    name,
    work,
    (ours, other) => other / ours,
    `at least ${target}x faster`,
    (ratio) => ratio >= target,
  );
const atMost = (target, name, work) =>
  row(
    name,
    work,
    (ours, other) => ours / other,
    `at most ${target}x the time`,
    (ratio) => ratio <= target,
  );

/** Median of interleaved runs, after one of each that is not counted. */
function row(name, { ours, other, repeat }, ratioOf, target, holds) {
  const times = { ours: [], other: [] };
  time(ours, repeat.ours);
  time(other, repeat.other);
  for (let i = 0; i < RUNS; i++) {
    times.ours.push(time(ours, repeat.ours));
    times.other.push(time(other, repeat.other));
  }
  const ratios = times.ours.map((ms, i) => ratioOf(ms, times.other[i])).sort((a, b) => a - b);
  const [oursMs, otherMs] = [median(times.ours), median(times.other)];
  const ratio = ratioOf(oursMs, otherMs);
  const spread = `${ratios[0].toFixed(2)} to ${ratios.at(-1).toFixed(2)}`;
  return { name, ours: oursMs, other: otherMs, ratio, target, holds: holds(ratio), spread };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function time(work, repeat) {
  const start = performance.now();
  for (let i = 0; i < repeat; i++) work();
  return (performance.now() - start) / repeat;
}
