import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

// What the whole process of `berth-plugin-host serve --http` holds with 50 plugins, after 20 hooks that asked all of them. Its
// workers run the stub of the framework: what they hold is theirs. The other is Node that does nothing.

const plugins = 50;
const rounds = 5;
const bin = fileURLToPath(new URL("../bin/berth-plugin-host.js", import.meta.url));
const makeWheel = fileURLToPath(new URL("../../../fixtures/cpex-stub/make_wheel.py", import.meta.url));
const code = `class Allow:
    def __init__(self, config):
        pass
    async def tool_pre_invoke(self, payload, context):
        return {"continue_processing": True}
`;

function prepare() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "berth-host-bench-")));
  const [root, wheels] = [join(folder, "plugins", "allow"), join(folder, "wheels")];
  for (const path of [root, wheels]) mkdirSync(path, { recursive: true });
  writeFileSync(join(root, "__init__.py"), code);
  writeFileSync(join(root, "requirements.txt"), "cpex\n");
  execFileSync("python3", [makeWheel, wheels]);
  const config = "{ class_name: allow.Allow, requirements_file: requirements.txt }";
  const entries = Array.from(
    { length: plugins },
    (_, index) => `  - { name: plugin-${index}, kind: isolated_venv, hooks: [tool_pre_invoke], config: ${config} }\n`,
  );
  const file = join(folder, "plugins.yaml");
  writeFileSync(file, `plugins:\n${entries.join("")}`);
  const options = ["--config", file, "--cwd", folder, "--state", join(folder, "state"), "--wheels", wheels];
  execFileSync(process.execPath, [bin, "venv", "build", "plugin-0", ...options], { stdio: "ignore" });
  return { folder, options };
}

const residentMB = (pid) => (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096) / 1_000_000;

/** The address, once every plugin was tried. */
function listening(child) {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      const url = /^\{"event":"listening","url":"(.*)\/mcp"\}$/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", (status) => reject(new Error(`berth-plugin-host ended with ${status}`)));
  });
}

async function invoke(url) {
  const params = { hook: "tool_pre_invoke", payload: { name: "search", args: { text: "x".repeat(100) } } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "hooks/invoke", params });
  const answer = await fetch(`${url}/rpc`, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { result } = await answer.json();
  const answered = result.executions.filter(({ status }) => status === "allowed");
  if (answered.length !== plugins) throw new Error(`${answered.length} of ${plugins} plugins answered`);
}

async function memoryOfHost(options) {
  const args = [bin, "serve", "--http", "127.0.0.1:0", ...options];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const url = await listening(child);
  for (let call = 0; call < 20; call++) await invoke(url);
  const resident = residentMB(child.pid);
  child.kill("SIGTERM");
  await exited;
  return resident;
}

async function memoryOfIdle() {
  const child = spawn(process.execPath, ["-e", "console.log(1); process.stdin.resume()"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const resident = residentMB(child.pid);
  child.stdin.end();
  await new Promise((resolve) => child.once("exit", resolve));
  return resident;
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

export async function run() {
  const { folder, options } = prepare();
  const figures = { ours: [], idle: [] };
  try {
    for (let round = 0; round < rounds; round++) {
      figures.ours.push(await memoryOfHost(options));
      figures.idle.push(await memoryOfIdle());
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const ours = median(figures.ours);
  return [
    {
      name: `memory of serve --http with ${plugins} plugins; the other: Node that does nothing`,
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
