import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { openWorker } from "../../src/worker/open-worker.js";
import type { Worker, WorkerOptions, WorkerTask } from "../../src/worker/worker.js";

const script = fileURLToPath(
  new URL("../../../../fixtures/cpex-stub/cpex/framework/isolated/worker.py", import.meta.url),
);

/** What a test may change of a worker over the stub. */
export type StubOptions = Partial<WorkerOptions> & { readonly mode?: string };

/** A worker over the stub, closed when its test has finished. */
export function openStub({ mode, ...options }: StubOptions = {}): Worker {
  const worker = openWorker({
    python: systemPython(),
    script,
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "", ...(mode === undefined ? {} : { CPEX_STUB_MODE: mode }) },
    ...options,
  });
  onTestFinished(() => worker.close());
  return worker;
}

/** Where links of version managers lead, so that no shell stands between us and the worker. */
export function systemPython(): string {
  return pythonPath;
}
const { execFileSync } = await import("node:child_process");
const pythonPath: string = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
  encoding: "utf8",
}).trim();

/** A hook task for one of the stub's behaviours. */
export function hookTask(
  behaviour: string,
  payload: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
): WorkerTask {
  return {
    task_type: "load_and_run_hook",
    plugin_dirs: [],
    class_name: `cpex_stub.${behaviour}`,
    config: JSON.stringify({ name: behaviour, kind: "isolated_venv", hooks: [], capabilities: [], config: null }),
    hook_type: "tool_pre_invoke",
    plugin_name: behaviour,
    payload,
    context: { state: {}, global_context: { request_id: "r" }, metadata: {} },
    ...more,
  };
}
