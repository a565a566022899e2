// The measuring rows of `npm run bench`: a real node_modules cut to 4,000 files, on the built package, against
// `sha256sum` over the same files and against reading them with streams.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createMeasurer, measureLaunch } from "../dist/index.js";

const RUNS = 5;
const FILES = 4_000;
const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {number} ours median milliseconds
 * @property {number} other median milliseconds
 * @property {number} ratio
 * @property {string} target
 * @property {boolean} holds
 * @property {string} [spread]
 */

/** @returns {Promise<Row[]>} */
export async function run() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "berth-bench-")));
  const measurer = createMeasurer();
  try {
    const { files, bytes } = fill(join(folder, "app"));
    const description = { command: process.execPath, args: ["app/main.js"], env: {}, cwd: folder };
    const ours = async () => void (await measureLaunch(description, { measurer }));
    // The first one starts the thread and reads the interpreter.
    await ours();
    const list = listFiles(join(folder, "app"));
    const floor = () => sha256sum(list);
    const streams = () => hashByStreams(list);
    const name = `measure a tree of ${files} files, ${Math.round(bytes / 1e6)} MB`;
    const times = await interleaved({ ours, floor, streams });
    return [
      row(
        `${name}, read once and its identity checked, against sha256sum`,
        times.ours,
        times.floor,
        "at most 3",
        (ratio) => ratio <= 3,
      ),
      row(
        `${name}, against Node streams one by one`,
        times.ours,
        times.streams,
        "at most 0.2",
        (ratio) => ratio <= 0.2,
      ),
      row(
        `${name}: under 300 ms`,
        times.ours,
        times.ours.map(() => 300),
        "at most 1",
        (ratio) => ratio <= 1,
      ),
    ];
  } finally {
    await measurer.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whole packages, until there are enough files. */
function fill(app) {
  mkdirSync(join(app, "node_modules"), { recursive: true });
  writeFileSync(join(app, "package.json"), '{"name":"bench"}');
  writeFileSync(join(app, "main.js"), "");
  // The compiler first: it brings most of the bytes.
  for (const name of [
    "typescript",
    ...readdirSync(modules)
      .filter((each) => each !== "typescript")
      .sort(),
  ]) {
    if (name.startsWith(".") || name.startsWith("node-linux-") || name.startsWith("@")) continue;
    if (listFiles(app).length >= FILES) break;
    const source = join(modules, name);
    if (!statSync(source).isDirectory() || realpathSync(source) !== source) continue;
    if (Number(execFileSync("du", ["-sm", source], { encoding: "utf8" }).split("\t")[0]) > 30) continue;
    cpSync(source, join(app, "node_modules", name), { recursive: true, filter: (path) => !path.includes("/.bin") });
  }
  const files = listFiles(app);
  return { files: files.length, bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) };
}

function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function sha256sum(files) {
  const run = spawnSync("xargs", ["-0", "sha256sum"], { input: files.join("\0"), maxBuffer: 1e9 });
  if (run.status !== 0) throw new Error(`sha256sum failed: ${run.stderr}`);
}

async function hashByStreams(files) {
  for (const file of files) {
    const digest = createHash("sha256");
    await pipeline(createReadStream(file), digest);
    digest.digest("hex");
  }
}

async function interleaved(subjects) {
  const times = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < RUNS; round += 1) {
    for (const [name, subject] of Object.entries(subjects)) {
      const started = performance.now();
      await subject();
      times[name].push(performance.now() - started);
    }
  }
  return times;
}

function row(name, ours, other, target, holds) {
  const ratios = ours.map((time, index) => time / other[index]).sort((a, b) => a - b);
  const ratio = median(ratios);
  const spread = `${ratios[0].toFixed(2)} to ${ratios.at(-1).toFixed(2)}`;
  return { name, ours: median(ours), other: median(other), ratio, target, holds: holds(ratio), spread };
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
