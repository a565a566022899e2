import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** The least that a client of a worker does: one task a line, one answer a line, no ids, bounds or ends. */
export function openRawWorker({ python, script, folder }) {
  const child = spawn(python, [script], { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const waiting = [];
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.(JSON.parse(line)));
  const config = {
    name: "allow",
    kind: "isolated_venv",
    hooks: ["tool_pre_invoke"],
    capabilities: [],
    config: { class_name: "allow.Allow" },
  };
  const task = {
    task_type: "load_and_run_hook",
    plugin_dirs: [join(folder, "plugins")],
    class_name: "allow.Allow",
    config: JSON.stringify(config),
    plugin_name: "allow",
    hook_type: "tool_pre_invoke",
    payload: { name: "search", args: { text: "x".repeat(100) } },
    context: { state: {}, global_context: { request_id: "r-1", user: "ann", state: {}, metadata: {} }, metadata: {} },
    request_id: "1",
  };
  return {
    call: async () => {
      const answer = new Promise((resolve) => waiting.push(resolve));
      child.stdin.write(`${JSON.stringify(task)}\n`);
      const { continue_processing: allowed, message } = await answer;
      if (allowed !== true) throw new Error(`the raw worker answered ${message}`);
    },
    close: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
