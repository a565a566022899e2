import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isolatedVenv, openEnvironmentStore } from "@berth/venv-host";
import { createPluginHost, readPluginsConfig } from "@berth/venv-host/executor";
import { openRawWorker } from "./programs/raw-worker.mjs";

// The real framework, 0.1.4, in an environment of the store, with a plugin that allows.
//
// Warm start: from opening the store to the answer of the first hook, with everything between: the environment is looked at,
// the worker started, asked for its features, and made to import the plugin. The floor is the environment's interpreter that
// imports the framework, and its end; the other floor what the worker's own file imports.
//
// Calls: one after another through a host, and through a client that only writes lines to the same worker program and reads
// them; in slices, in turn, while the other waits.

const rounds = 5;
const startsPerRound = 3;
const slices = 5;
const callsPerSlice = 200;
const scratch = fileURLToPath(new URL("../../../.scratch/", import.meta.url));
const wheels = join(scratch, "cpex-wheels");
const framework = "cpex/framework/isolated/worker.py";

const plugin = `from cpex.framework import Plugin, ToolPreInvokeResult

class Allow(Plugin):
    async def tool_pre_invoke(self, payload, context):
        return ToolPreInvokeResult()
`;

/** A folder with the plugin, and a store whose environment is built already. */
async function prepare() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "berth-calls-bench-")));
  const code = join(folder, "plugins", "allow");
  mkdirSync(code, { recursive: true });
  writeFileSync(join(code, "__init__.py"), plugin);
  writeFileSync(join(code, "requirements.txt"), "cpex==0.1.4\nmcp==2.3.0\n");
  process.env.PATH = `${join(scratch, "uv", "bin")}:${process.env.PATH}`;
  const store = await openStore(folder);
  const held = await store.acquire({ requirements: join(code, "requirements.txt") });
  const { python, sitePackages } = held;
  await held.close();
  await store.close();
  return { folder, python, script: join(sitePackages, framework) };
}

const openStore = (folder) =>
  openEnvironmentStore({ path: join(folder, "store"), index: { from: "wheels", folders: [wheels] } });

const yaml = `plugins:
  - name: allow
    kind: isolated_venv
    hooks: [tool_pre_invoke]
    config: { class_name: allow.Allow, requirements_file: requirements.txt }
`;

const request = {
  hook: "tool_pre_invoke",
  payload: { name: "search", args: { text: "x".repeat(100) } },
  globalContext: { requestId: "r-1", user: "ann", state: {}, metadata: {} },
};

async function openHost({ folder }) {
  const store = await openStore(folder);
  const kinds = [isolatedVenv({ cwd: folder, acquire: store.acquire })];
  const host = createPluginHost({ config: await readPluginsConfig(yaml), kinds });
  const call = async () => {
    const { allowed } = await host.run(request);
    if (!allowed) throw new Error("the plugin did not allow");
  };
  const close = async () => {
    await host.close();
    await store.close();
  };
  return { call, close };
}

async function warmStart(place) {
  const from = performance.now();
  const host = await openHost(place);
  await host.call();
  const ms = performance.now() - from;
  await host.close();
  return ms;
}

/** The worker is imported, not run: it reads its input when it is the main module only. */
function bareStart({ python, folder }, module) {
  const from = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(python, ["-c", `import ${module}`], { cwd: folder, stdio: "ignore" });
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 ? resolve(performance.now() - from) : reject(new Error(`import ${module} ended with ${code}`)),
    );
  });
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const spreadOf = (values) => `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;

async function measureStarts(place) {
  const kinds = {
    ours: () => warmStart(place),
    worker: () => bareStart(place, "cpex.framework.isolated.worker"),
    framework: () => bareStart(place, "cpex.framework"),
  };
  for (const start of Object.values(kinds)) await start();
  const figures = [];
  for (let round = 0; round < rounds; round++) {
    const times = { ours: [], worker: [], framework: [] };
    for (let count = 0; count < startsPerRound; count++) {
      for (const [name, start] of Object.entries(kinds)) times[name].push(await start());
    }
    figures.push(Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)])));
  }
  return figures;
}

function startRow(figures, other, what, target) {
  const ratios = figures.map((times) => times.ours / times[other]);
  const ratio = median(ratios);
  return {
    name: `warm start, cached environment to first hook answer / ${what} (ms)`,
    ours: median(figures.map(({ ours }) => ours)),
    other: median(figures.map((times) => times[other])),
    ratio,
    target,
    holds: target === undefined || ratio <= target,
    spread: spreadOf(ratios),
  };
}

async function slice(call, times) {
  for (let count = 0; count < callsPerSlice; count++) {
    const from = performance.now();
    await call();
    times.push(performance.now() - from);
  }
}

async function measureCalls(place) {
  const host = await openHost(place);
  const raw = openRawWorker(place);
  try {
    const calls = { ours: host.call, raw: raw.call };
    for (const call of Object.values(calls)) await slice(call, []);
    const figures = [];
    for (let round = 0; round < rounds; round++) {
      const times = { ours: [], raw: [] };
      for (let count = 0; count < slices; count++) {
        for (const [name, call] of Object.entries(calls)) await slice(call, times[name]);
      }
      figures.push({ ours: median(times.ours), raw: median(times.raw) });
    }
    return figures;
  } finally {
    await Promise.all([host.close(), raw.close()]);
  }
}

function callRow(figures) {
  const added = figures.map(({ ours, raw }) => ours - raw);
  const ratio = median(added);
  return {
    name: "what a host adds to a hook call, p50, over a raw pipe client",
    unit: "ms",
    ours: median(figures.map(({ ours }) => ours)),
    other: median(figures.map(({ raw }) => raw)),
    ratio,
    target: 0.3,
    holds: ratio <= 0.3,
    spread: spreadOf(added),
  };
}

export async function run() {
  const place = await prepare();
  try {
    const starts = await measureStarts(place);
    return [
      startRow(starts, "worker", "python -c 'import cpex.framework.isolated.worker'"),
      startRow(starts, "framework", "python -c 'import cpex.framework'", 1.3),
      callRow(await measureCalls(place)),
    ];
  } finally {
    rmSync(place.folder, { recursive: true, force: true });
  }
}
