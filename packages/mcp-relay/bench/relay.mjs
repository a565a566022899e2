// The relay of the measurement: one server, pinned, each event hashed as a log would.
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createRelaySession, readDefinition } from "@berth/mcp-relay";
import { createStreamTransport, listedEnvironment, openChild } from "@berth/stdio-transport";

const server = process.argv[2] ?? fileURLToPath(new URL("echo-sdk.mjs", import.meta.url));
const { name, digest, definition } = readDefinition('{"name":"echo","inputSchema":{"type":"object"}}', "name");
const session = createRelaySession({
  downstream: createStreamTransport({ readable: process.stdin, writable: process.stdout }),
  servers: [{ name: "s", tools: { pinned: { [name]: { digest, definition } } } }],
  names: "plain",
  serverInfo: { name: "bench", version: "1.0.0" },
  record(event) {
    const frame = event.request ?? event.response;
    if (frame !== undefined) createHash("sha256").update(frame).digest();
  },
  async openUpstream() {
    const child = await openChild({ file: process.execPath, args: [server], env: listedEnvironment(process.env) });
    const { transport, exited } = child;
    return { transport, exited, evidence: { evidence: "spawn-measured" }, close: () => child.close() };
  },
});
await session.closed;
