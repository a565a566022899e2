import { spawn } from "node:child_process";

/** The floor: as raw-json-server, with a map of ids. */
export async function openRawJson(server) {
  const child = spawn(process.execPath, [server], { stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map();
  let rest = "";
  let nextId = 1;
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      waiting.get(message.id)(message.result);
      waiting.delete(message.id);
    }
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  return {
    call: (text) =>
      new Promise((resolve) => {
        const id = nextId++;
        waiting.set(id, resolve);
        const params = { name: "echo", arguments: { text } };
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
      }),
    close: () => {
      child.stdin.end();
      return exited;
    },
  };
}
