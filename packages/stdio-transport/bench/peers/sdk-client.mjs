import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

export async function openSdk(server) {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [server], stderr: "ignore" }));
  return {
    call: (text) => client.callTool({ name: "echo", arguments: { text } }),
    close: () => client.close(),
  };
}
