import { Agent, request } from "node:http";

// The load client of the session bench: MCP 2025-06-18 over Streamable HTTP on one kept-alive connection, the same bytes
// for every server. It understands both forms of answer, JSON and one event.

/** Opens an MCP session at a port of this machine. */
export async function openMcp(port, path = "/mcp") {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let session;
  let next = 1;

  const post = (body) =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const headers = {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
        accept: "application/json, text/event-stream",
        ...(session === undefined ? {} : { "mcp-session-id": session, "mcp-protocol-version": "2025-06-18" }),
      };
      const sent = request({ host: "127.0.0.1", port, path, method: "POST", headers, agent }, (answer) => {
        const chunks = [];
        answer.on("data", (chunk) => chunks.push(chunk));
        answer.on("end", () => resolve({ answer, text: Buffer.concat(chunks).toString("utf8") }));
        answer.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(text);
    });

  const call = async (method, params) => {
    const { answer, text } = await post({ jsonrpc: "2.0", id: next++, method, params });
    if (answer.statusCode !== 200) throw new Error(`${method}: ${answer.statusCode} ${text}`);
    session ??= answer.headers["mcp-session-id"];
    const data = text.split(/\r?\n/).find((line) => line.startsWith("data: "));
    const message = JSON.parse(data === undefined ? text : data.slice(6));
    if (message.error !== undefined) throw new Error(`${method}: ${message.error.message}`);
    return message.result;
  };

  const clientInfo = { name: "bench", version: "1" };
  await call("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  const tool = async (name, args) => {
    const result = await call("tools/call", { name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
    return result.structuredContent;
  };
  return { tool, close: () => agent.destroy() };
}
