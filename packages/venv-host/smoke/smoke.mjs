// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { isolatedVenv, isVenvHostError, openEnvironmentStore, openWorker, workerEnvironment } from "@berth/venv-host";
import { createPluginHost, inProcess, isPluginHostError, readPluginsConfig } from "@berth/venv-host/executor";

const stub = new URL("../../../fixtures/cpex-stub/cpex/framework/isolated/worker.py", import.meta.url);
const script = fileURLToPath(stub);
const found = spawnSync("python3", ["-c", "import sys, venv; print(sys.executable)"], { encoding: "utf8" });
const python = found.status === 0 ? found.stdout.trim() : undefined;
const skip = python === undefined ? "needs python3: apt-get install python3" : false;
const scratch = mkdtempSync(join(tmpdir(), "berth-venv-smoke-"));
test.after(() => rmSync(scratch, { recursive: true, force: true }));

const request = (name) => ({
  hook: "tool_pre_invoke",
  payload: { name, args: {} },
  globalContext: { state: {}, metadata: {} },
});

test("plugins of any kind deny and allow, and an unknown kind is refused by name", async () => {
  const config = await readPluginsConfig("plugins:\n  - { name: guard, kind: own, hooks: [tool_pre_invoke] }\n");
  const denies = { continue_processing: false, violation: { reason: "no", code: "NO", description: "", details: {} } };
  const guard = { hooks: { tool_pre_invoke: ({ payload }) => (payload.name === "rm" ? denies : {}) } };
  const host = createPluginHost({ config, kinds: [inProcess("own", { guard })] });
  assert.equal((await host.run(request("ls"))).allowed, true);
  assert.equal((await host.run(request("rm"))).violation.code, "NO");
  await host.close();
  await assert.rejects(host.run(request("ls")), (error) => isPluginHostError(error) && error.code === "HOST_CLOSED");
  assert.throws(() => createPluginHost({ config, kinds: [] }), { code: "KIND_UNKNOWN" });
  await assert.rejects(readPluginsConfig("plugins: 1\n"), { code: "CONFIG_INVALID" });
});

const task = (behaviour, payload = {}) => ({
  task_type: "load_and_run_hook",
  plugin_dirs: [],
  class_name: `cpex_stub.${behaviour}`,
  config: JSON.stringify({ name: behaviour, kind: "isolated_venv", hooks: [], capabilities: [], config: null }),
  hook_type: "tool_pre_invoke",
  plugin_name: behaviour,
  payload,
  context: { state: {}, global_context: { request_id: "r" }, metadata: {} },
});

test("a worker answers through what it prints, dies alone, and is started anew", { skip }, async () => {
  const worker = openWorker({ python, script, cwd: "/", env: workerEnvironment(process.env), holdsSecrets: true });
  assert.deepEqual((await worker.features()).features, ["credential", "extensions", "modified_extensions"]);
  assert.equal((await worker.call(task("Noisy"))).continue_processing, true);
  await assert.rejects(worker.call(task("Die")), (error) => isVenvHostError(error) && error.code === "WORKER_DIED");
  assert.deepEqual((await worker.call(task("Limits"))).metadata.core, [1, 1]);
  const { pid } = worker;
  await Promise.all([worker.close(), worker.close()]);
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  await assert.rejects(worker.call(task("Echo")), { code: "WORKER_CLOSED" });
});

test("an environment is built once, and a plugin without its worker is told so", { skip }, async () => {
  const cwd = join(scratch, "host");
  mkdirSync(join(cwd, "plugins", "guard"), { recursive: true });
  writeFileSync(join(cwd, "plugins", "guard", "requirements.txt"), "");
  const store = await openEnvironmentStore({ path: join(scratch, "store"), installer: "pip" });
  const first = await store.acquire({ interpreter: python });
  const second = await store.acquire({ interpreter: python });
  assert.deepEqual([first.origin, second.origin, second.path], ["built", "cached", first.path]);
  assert.equal(spawnSync(first.python, ["-c", "import sys; print(sys.prefix)"]).stdout.toString().trim(), first.path);
  const kind = isolatedVenv({ cwd, acquire: async () => first });
  const config = await readPluginsConfig(
    "plugins:\n  - { name: guard, kind: isolated_venv, hooks: [tool_pre_invoke], config: { class_name: guard.Guard } }\n",
  );
  const host = createPluginHost({ config, kinds: [kind] });
  const outcome = await host.run(request("ls"));
  assert.equal(outcome.allowed, false);
  assert.match(outcome.executions[0].reason, /requirements do not name cpex/);
  await host.close();
  await second.close();
  assert.equal((await store.collect({})).kept, 0);
  await store.close();
  await assert.rejects(store.acquire({}), { code: "STORE_CLOSED" });
});
