// Answers each frame with itself over its own stdin and stdout, and lives on by a timer: only the transport's end ends it.
import { createStreamTransport } from "@berth/stdio-transport";

setInterval(() => undefined, 1_000);
const transport = createStreamTransport({ readable: process.stdin, writable: process.stdout });
transport.start({
  onFrame: ({ bytes }) => {
    transport.send(Uint8Array.from(bytes)).catch((error) => {
      process.stderr.write(`${error.code} ${error.cause?.code}\n`, () => process.exit(0));
    });
  },
  onFault: () => undefined,
  onClose: () => process.exit(0),
});
