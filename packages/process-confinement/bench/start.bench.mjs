import { spawn } from "node:child_process";
import {
  createPreparedSandboxes,
  createSandboxStarter,
  findInterpreter,
  openSandbox,
} from "@berth/process-confinement";

// What the sandbox adds to the start of an interpreter: from the call to the seen end of `python3 -c pass`, bare and
// confined in turn. The limits are those of an ordinary environment, and so is the last kind's handshake: by the command itself,
// which is process 1. What a starter keeps ready is made after each start, within the measured time of others; prepared sandboxes
// are made between the measured times, and their policy's one command is `python3`.

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

const kindNames = [
  "confined",
  "confined, with limits",
  "confined, with limits, as an environment is",
  "confined by a starter, with limits",
  "confined by a starter, with limits, as an environment is",
  "confined in a prepared sandbox, with limits",
];

const policyWith = (limits) => ({ workspace: { kind: "memory", maxBytes: 16 * 1024 * 1024 }, limits });

let started = 0;
function confined(open, file, limits, kind = {}) {
  const name = `bench-${process.pid}-${started++}`;
  return toItsEnd(open({ name, policy: policyWith(limits), file, args: ["-c", "pass"], env: {}, ...kind }));
}

async function toItsEnd(opening) {
  const sandbox = await opening;
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

async function measure(kinds, prepared) {
  const times = kinds.map(() => []);
  for (let index = 0; index < startsPerRun; index++) {
    for (const [place, start] of kinds.entries()) {
      await prepared.ready();
      times[place].push(await timed(start));
    }
  }
  return times.map(median);
}

export async function run() {
  const { file } = await findInterpreter(python);
  const limits = { memoryBytes: 512 * 1024 * 1024, processes: 64 };
  const speaks = "import os; os.write(4, b'r\\n'); os.read(3, 3); os.close(3); os.close(4)";
  const agent = { args: ["-c", speaks], handshake: "command", asPid1: true };
  const starter = createSandboxStarter();
  const prepared = createPreparedSandboxes({ name: "bench", policy: policyWith(limits), file });
  const kinds = [
    () => bare(file),
    () => confined(openSandbox, file, undefined),
    () => confined(openSandbox, file, limits),
    () => confined(openSandbox, file, limits, agent),
    () => confined(starter.open, file, limits),
    () => confined(starter.open, file, limits, agent),
    () => toItsEnd(prepared.open({ args: ["-c", "pass"], env: {} })),
  ];
  const figures = [];
  try {
    await measure(kinds, prepared);
    for (let index = 0; index < runs; index++) figures.push(await measure(kinds, prepared));
  } finally {
    await Promise.all([starter.close(), prepared.close()]);
  }
  return kindNames.map((name, place) => {
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
