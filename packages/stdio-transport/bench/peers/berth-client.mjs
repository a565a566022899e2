import { createPendingCalls, parseMessage } from "@berth/jsonrpc-framing";
import { openChild } from "@berth/stdio-transport";

/** Framing, transport and pending calls: what a client of ours is made of. */
export async function openBerth(server) {
  const child = await openChild({ file: process.execPath, args: [server], env: { PATH: process.env.PATH } });
  const { transport } = child;
  const calls = createPendingCalls();
  let nextId = 1;
  transport.start({
    onFrame: ({ bytes }) => {
      const message = parseMessage(bytes);
      if (message.kind === "response") calls.settle(message.id, message.result);
      else if (message.kind === "error") calls.reject(message.id, new Error(message.error.message));
    },
    onFault: (fault) => calls.close(fault),
    onClose: (cause) => calls.close(cause ?? new Error("closed")),
  });
  return {
    call: (text) => {
      const id = nextId++;
      const answer = calls.register(id);
      const params = { name: "echo", arguments: { text } };
      const frame = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }));
      transport.send(frame).catch((error) => calls.reject(id, error));
      return answer;
    },
    close: () => child.close(),
  };
}
