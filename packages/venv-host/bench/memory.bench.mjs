import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// What the whole process of a host holds with 50 plugins, after 20 hooks that asked all of them. Its workers run the stub of
// the framework: what they hold is theirs. The other is Node that does nothing.

const plugins = 50;
const rounds = 5;
const program = fileURLToPath(new URL("./programs/many-plugins.mjs", import.meta.url));
const stub = fileURLToPath(new URL("../../../fixtures/cpex-stub/cpex", import.meta.url));

function prepare() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "berth-memory-bench-")));
  mkdirSync(join(folder, "plugins"));
  execFileSync("python3", ["-m", "venv", "--without-pip", folder]);
  const [version] = readdirSync(join(folder, "lib"));
  cpSync(stub, join(folder, "lib", version, "site-packages", "cpex"), { recursive: true });
  return folder;
}

const residentMB = (pid) => (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096) / 1_000_000;

/** Started, measured once it says something, and ended by the end of its input. */
async function memoryOf(args) {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const spoke = new Promise((resolve) => child.stdout.once("data", resolve));
  await Promise.race([spoke, exited.then((code) => Promise.reject(new Error(`the host ended with ${code}`)))]);
  const resident = residentMB(child.pid);
  child.stdin.end();
  const code = await exited;
  if (code !== 0) throw new Error(`the host ended with ${code}`);
  return resident;
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

export async function run() {
  const folder = prepare();
  const idle = ["-e", "process.stdout.write('ready\\n'); process.stdin.resume()"];
  const figures = { ours: [], idle: [] };
  try {
    for (let round = 0; round < rounds; round++) {
      figures.ours.push(await memoryOf([program, folder, join(folder, "bin", "python"), String(plugins)]));
      figures.idle.push(await memoryOf(idle));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const ours = median(figures.ours);
  return [
    {
      name: `memory of a host with ${plugins} plugins; the other: Node that does nothing`,
      unit: "MB",
      ours,
      other: median(figures.idle),
      ratio: ours,
      target: 120,
      holds: ours < 120,
      spread: `${Math.min(...figures.ours).toFixed(0)} to ${Math.max(...figures.ours).toFixed(0)}`,
    },
  ];
}
