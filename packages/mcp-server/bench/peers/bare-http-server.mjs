// The floor: Node's own server, parse, stringify. Nothing is checked, nothing is bounded.
import { createServer } from "node:http";

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { id, params } = JSON.parse(Buffer.concat(chunks).toString());
    const result = { content: [{ type: "text", text: params?.arguments?.text ?? "" }] };
    const body = JSON.stringify({ jsonrpc: "2.0", id: id ?? null, result });
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
process.stdin.on("end", () => process.exit(0)).resume();
