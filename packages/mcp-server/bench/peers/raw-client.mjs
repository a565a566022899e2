import { spawn } from "node:child_process";

const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The client of every stdio peer: stringify, line split, parse, a map of ids. In `legacy` it initializes first, in `modern` each call bears its revision. */
export async function openRaw(server, era) {
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
      waiting.get(message.id)?.(message.result);
      waiting.delete(message.id);
    }
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const request = (method, params) =>
    new Promise((resolve) => {
      const id = nextId++;
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  const toolCall =
    era === "modern"
      ? (text) => request("tools/call", { name: "echo", arguments: { text }, _meta: modernMeta })
      : (text) => request("tools/call", { name: "echo", arguments: { text } });
  const call = async (text) => {
    const result = await toolCall(text);
    if (result?.content?.[0]?.text !== text) throw new Error(`${server} answered ${JSON.stringify(result)}`);
  };
  if (era === "legacy") {
    await request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    });
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }
  const close = () => {
    child.stdin.end();
    return exited;
  };
  return { call, close, pid: child.pid };
}
