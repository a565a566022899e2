import { connect } from "node:net";

const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const initialize = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bench", version: "1" },
};

/** One kept-alive connection that sends prebuilt requests one after the other and reads each answer to its end: no HTTP library on this side. */
function openConnection(port) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  let received = Buffer.alloc(0);
  let waiting;
  let isOpen = true;
  const fail = (error) => {
    isOpen = false;
    waiting?.reject(error ?? new Error("the server closed the connection"));
  };
  socket.on("error", fail).on("close", () => fail());
  socket.on("data", (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = readAnswer(received);
    if (answer === undefined) return;
    received = received.subarray(answer.byteLength);
    waiting.resolve(answer);
  });
  return {
    /** Servers close what was idle for some seconds. */
    get isOpen() {
      return isOpen;
    },
    exchange: (bytes) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(bytes);
      }),
    close: () => socket.destroy(),
  };
}

/** A whole answer at the start of these bytes: by content-length, or chunked to its last chunk. */
function readAnswer(bytes) {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length !== null) {
    const byteLength = headEnd + 4 + Number(length[1]);
    return bytes.length < byteLength ? undefined : { head, body: bytes.subarray(headEnd + 4, byteLength), byteLength };
  }
  const end = bytes.indexOf("\r\n0\r\n\r\n", headEnd + 2);
  return end < 0 ? undefined : { head, body: bytes.subarray(headEnd + 4, end), byteLength: end + 7 };
}

function request(port, body, headers) {
  const bytes = Buffer.from(JSON.stringify(body));
  const lines = [
    "POST /mcp HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    `Content-Length: ${bytes.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), bytes]);
}

/** Opens a session of the older era over this connection; gives the headers of its requests. */
async function openSession(port, connection) {
  const opening = { jsonrpc: "2.0", id: 0, method: "initialize", params: initialize };
  const { head } = await connection.exchange(request(port, opening, {}));
  const session = /\r\nmcp-session-id: *([^\r\n]+)/i.exec(head);
  const headers = { "MCP-Protocol-Version": "2025-11-25", ...(session && { "Mcp-Session-Id": session[1] }) };
  await connection.exchange(request(port, { jsonrpc: "2.0", method: "notifications/initialized" }, headers));
  return headers;
}

/** Opens so many sessions over a few kept-alive connections, and leaves them open. */
export async function openSessions(port, count) {
  const lanes = 16;
  let left = count;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      const connection = openConnection(port);
      while (left-- > 0) await openSession(port, connection);
      connection.close();
    }),
  );
}

/** What one call of the tool looks like on the wire: in the older era within a session, where the server has them. */
async function prepareCall(port, era, text) {
  const params = { name: "echo", arguments: { text } };
  if (era === "modern") {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...params, _meta: modernMeta } };
    const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo" };
    return request(port, body, headers);
  }
  const connection = openConnection(port);
  const headers = await openSession(port, connection);
  connection.close();
  return request(port, { jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers);
}

/** A load of calls on so many connections. Every answer is looked at. */
export async function openLoad(port, era) {
  const text = "x".repeat(100);
  const call = await prepareCall(port, era, text);
  const connections = [];
  const lane = async (connection, take) => {
    while (take()) {
      const { head, body } = await connection.exchange(call);
      if (!head.startsWith("HTTP/1.1 200") || !body.includes(text)) throw new Error(`${head}\n\n${body}`);
    }
  };
  return {
    /** Milliseconds that this many calls take. */
    async run(count, width) {
      for (let place = 0; place < width; place++) {
        if (connections[place]?.isOpen !== true) connections[place] = openConnection(port);
      }
      let left = count;
      const from = performance.now();
      await Promise.all(connections.slice(0, width).map((connection) => lane(connection, () => left-- > 0)));
      return performance.now() - from;
    },
    close() {
      for (const connection of connections) connection.close();
    },
  };
}
