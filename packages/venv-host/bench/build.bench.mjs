import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openEnvironmentStore } from "@berth/venv-host";

// A cold build: nothing of the environment is there, and no cache is used. The framework, three published plugins and what
// they need, 58 distributions: from a folder of wheels, and from the index that this machine is set to. The peer is what
// one would type: `python3 -m venv`, then its pip. The floor is uv by itself, with the same options, which keeps no promise.
// The target is for the index, which is what somebody has who builds for the first time. From a folder most of the time goes
// into compiling modules, by either: what is gained there depends on the number of cores, and is shown without a target.

const scratch = fileURLToPath(new URL("../../../.scratch/", import.meta.url));
const wheels = join(scratch, "cpex-wheels");
const uv = join(scratch, "uv", "bin", "uv");
const requirements = [
  "cpex==0.1.4",
  "cpex-pii-filter==0.3.9",
  "cpex-secrets-detection==0.3.14",
  "cpex-output-length-guard==0.1.2",
  "mcp==2.3.0",
];

/** The interpreter itself, not a launcher that decides anew each time. */
const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();

function ran(file, args, env = process.env) {
  const { status, stderr } = spawnSync(file, args, { env, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  if (status !== 0) throw new Error(`${file} ${args.join(" ")} ended with ${status}: ${stderr}`);
}

/** @param place `wheels` or `index`. */
const kinds = (file, place) => {
  const source = place === "wheels" ? ["--no-index", "--find-links", wheels] : [];
  return {
    ours: async (folder) => {
      const index = place === "wheels" ? { from: "wheels", folders: [wheels] } : { from: "default" };
      const store = await openEnvironmentStore({ path: join(folder, "store"), installer: "uv", index });
      const held = await store.acquire({ interpreter: python, requirements: file });
      if (held.origin !== "built") throw new Error(`the environment was ${held.origin}`);
      await held.close();
      await store.close();
    },
    pip: async (folder) => {
      const environment = join(folder, "pip");
      ran(python, ["-m", "venv", environment]);
      const options = ["--quiet", "--disable-pip-version-check", "--no-cache-dir", ...source];
      ran(join(environment, "bin", "python"), ["-m", "pip", "install", ...options, "-r", file]);
    },
    uv: async (folder) => {
      const environment = join(folder, "uv");
      const env = { ...process.env, TMPDIR: folder };
      ran(uv, ["venv", "--quiet", "--python", python, environment], env);
      const options = ["--quiet", "--no-cache", "--compile-bytecode", ...source];
      ran(uv, ["pip", "install", ...options, "--python", join(environment, "bin", "python"), "-r", file], env);
    },
  };
};

async function timed(work, folder) {
  mkdirSync(folder);
  const from = performance.now();
  await work(folder);
  const ms = performance.now() - from;
  rmSync(folder, { recursive: true });
  return ms;
}

async function measure(place, folder, rounds) {
  const file = join(folder, "requirements.txt");
  writeFileSync(file, requirements.map((line) => `${line}\n`).join(""));
  const works = Object.entries(kinds(file, place));
  const times = Object.fromEntries(works.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, work] of works) times[name].push(await timed(work, join(folder, name)));
  }
  return times;
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function row(name, ours, other, target) {
  const ratios = ours.map((ms, round) => ms / other[round]);
  const ratio = median(ratios);
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  const holds = target === undefined || ratio <= target;
  return { name, ours: median(ours), other: median(other), ratio, target, holds, spread };
}

/** Rows in milliseconds. */
export async function run(places = ["wheels", "index"], rounds = 5) {
  const folder = mkdtempSync(join(tmpdir(), "berth-build-bench-"));
  process.env.PATH = `${join(scratch, "uv", "bin")}${delimiter}${process.env.PATH}`;
  try {
    const rows = [];
    for (const place of places) {
      const { ours, pip, uv: bare } = await measure(place, folder, rounds);
      const target = place === "index" ? 0.25 : undefined;
      rows.push(row(`cold build with uv, from ${place} / python3 -m venv and pip (ms)`, ours, pip, target));
      rows.push(row(`cold build with uv, from ${place} / uv by itself (ms)`, ours, bare));
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
