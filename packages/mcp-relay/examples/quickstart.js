import { createRelaySession } from "@berth/mcp-relay";
import { createStreamTransport, listedEnvironment, openChild } from "@berth/stdio-transport";

// The client is on standard input and output; the server of argv[2] is started when it is first needed.
const session = createRelaySession({
  downstream: createStreamTransport({ readable: process.stdin, writable: process.stdout }),
  servers: [{ name: "demo" }],
  serverInfo: { name: "my-gateway", version: "1.0.0" },
  async openUpstream(_name, { signal }) {
    const env = listedEnvironment(process.env);
    const child = await openChild({ file: process.execPath, args: [process.argv[2]], env, signal });
    const { transport, exited } = child;
    return { transport, exited, evidence: { evidence: "spawn-unmeasured" }, close: () => child.close() };
  },
  record(event) {
    console.error(event.type, event.server, event.tool ?? "");
  },
});
await session.closed;
