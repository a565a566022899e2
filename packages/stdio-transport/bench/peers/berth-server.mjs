import { parseMessage } from "@berth/jsonrpc-framing";
import { createStreamTransport } from "@berth/stdio-transport";

const transport = createStreamTransport({ readable: process.stdin, writable: process.stdout });
const fail = (error) => {
  console.error(error);
  process.exit(1);
};
transport.start({
  onFrame: ({ bytes }) => {
    const { id, params } = parseMessage(bytes);
    const result = { content: [{ type: "text", text: params.arguments.text }] };
    transport.send(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result }))).catch(fail);
  },
  onFault: fail,
  onClose: () => undefined,
});
