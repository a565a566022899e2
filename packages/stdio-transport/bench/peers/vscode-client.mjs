import { spawn } from "node:child_process";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";

export async function openVscode(server) {
  const child = spawn(process.execPath, [server], { stdio: ["pipe", "pipe", "ignore"] });
  const reader = new StreamMessageReader(child.stdout);
  const connection = createMessageConnection(reader, new StreamMessageWriter(child.stdin));
  connection.listen();
  const exited = new Promise((resolve) => child.once("exit", resolve));
  return {
    call: (text) => connection.sendRequest("tools/call", { name: "echo", arguments: { text } }),
    close: () => {
      connection.dispose();
      child.stdin.end();
      return exited;
    },
  };
}
