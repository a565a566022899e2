import { spawn } from "node:child_process";
import { findInterpreter, openSandbox } from "@berth/process-confinement";

// What the sandbox adds to the start of an interpreter: from the call to the seen end of `python3 -c pass`, bare and
// confined in turn. The limits are those of an ordinary environment.

const runs = 5;
const startsPerRun = 20;
const python = process.env.BERTH_BENCH_PYTHON ?? "/usr/bin/python3";

function bare(file) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, ["-c", "pass"], { stdio: ["pipe", "pipe", "pipe"], env: {} });
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`bare python exited with ${code}`))));
  });
}

let started = 0;
async function confined(file, limits) {
  const sandbox = await openSandbox({
    name: `bench-${process.pid}-${started++}`,
    policy: { workspace: { kind: "memory", maxBytes: 16 * 1024 * 1024 }, limits },
    file,
    args: ["-c", "pass"],
    env: {},
  });
  const exit = await sandbox.exited;
  if (exit.code !== 0) throw new Error(`confined python ended: ${JSON.stringify(exit)}`);
  await sandbox.close();
}

async function timed(start) {
  const from = performance.now();
  await start();
  return performance.now() - from;
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const spreadOf = (values) => `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;

async function measure(kinds) {
  const times = kinds.map(() => []);
  for (let index = 0; index < startsPerRun; index++) {
    for (const [place, start] of kinds.entries()) times[place].push(await timed(start));
  }
  return times.map(median);
}

export async function run() {
  const { file } = await findInterpreter(python);
  const limits = { memoryBytes: 512 * 1024 * 1024, processes: 64 };
  const kinds = [() => bare(file), () => confined(file, undefined), () => confined(file, limits)];
  await measure(kinds);
  const figures = [];
  for (let index = 0; index < runs; index++) figures.push(await measure(kinds));
  return ["confined", "confined, with limits"].map((name, place) => {
    const ratios = figures.map((times) => times[place + 1] / times[0]);
    const ratio = median(ratios);
    return {
      name: `start and end of python3 -c pass: ${name} over bare (ms)`,
      ours: median(figures.map((times) => times[place + 1])),
      other: median(figures.map((times) => times[0])),
      ratio,
      target: 1.3,
      holds: ratio <= 1.3,
      spread: spreadOf(ratios),
    };
  });
}
