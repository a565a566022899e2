// Each callback that only listens, as an async function that rejects, and handlers whose errors are odd. Writes a line for each after it was called; ends with an
// error as soon as one of them is left uncaught (run with --unhandled-rejections=strict).
import { PassThrough } from "node:stream";
import { createMcpServer, RpcError } from "@berth/mcp-server";
import { createBearerAdmitter, createJwtVerifier } from "@berth/mcp-server/auth";
import { createHttpHandler } from "@berth/mcp-server/http";
import { serveStdio } from "@berth/mcp-server/stdio";

let calls = 0;
const count = () => {
  calls += 1;
};
const rejects = async () => {
  count();
  throw new Error("rejected");
};
const throws = (error) => () => {
  throw error();
};
const cycle = () => {
  const data = {};
  data.self = data;
  return new RpcError(-1, "a cycle", { data });
};
const unlookable = () => new Proxy(new Error("x"), { get: throws(Error), getPrototypeOf: throws(Error) });
const turn = () => new Promise((resolve) => setImmediate(resolve));

const tool = (name, handler, task) => ({
  name,
  description: name,
  inputSchema: { type: "object" },
  permission: "use",
  task,
  handler,
});
const open = (options = {}) =>
  createMcpServer({
    identity: { name: "callbacks", version: "1" },
    authorize: () => true,
    tools: [
      tool(
        "breaks",
        throws(() => new Error("the handler broke")),
      ),
      tool(
        "task",
        throws(() => new Error("the handler broke")),
        "optional",
      ),
      tool(
        "task-bigint",
        throws(() => new RpcError(-1, "no JSON", { data: 1n })),
        "optional",
      ),
      tool("task-cycle", throws(cycle), "optional"),
      tool("task-proxy", throws(unlookable), "optional"),
      tool(
        "task-nothing",
        throws(() => undefined),
        "optional",
      ),
      tool(
        "task-started",
        async ({ startTask }) => {
          await startTask();
          throw cycle();
        },
        { support: "optional", begins: "when-started" },
      ),
    ],
    ...options,
  });
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
};
const request = (method, params) => ({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } });

async function call(options, name = "breaks") {
  const server = open(options);
  const connection = server.openConnection({ send: () => undefined });
  const ask = (method, params) => server.handle(request(method, params), { principal: "ada", connection });
  const answer = await ask("tools/call", { name }).catch(({ message }) => ({ error: { message } }));
  for (let turns = 0; turns < 5; turns += 1) await turn();
  const taskId = answer.result?.taskId;
  if (taskId === undefined) return `${answer.error.message}, ${server.observerFailures} failures`;
  const { result } = await ask("tasks/get", { taskId });
  return `${result.status} ${result.error?.code}`;
}
async function post(options, serverOptions, headers = {}) {
  const handler = createHttpHandler({ server: open(serverOptions), logger: () => undefined, ...options });
  const message = request("tools/call", { name: "breaks" });
  const response = await handler.fetch(
    new Request("http://localhost/mcp", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "breaks",
        ...headers,
      },
      body: JSON.stringify(message),
    }),
  );
  await turn();
  await handler.close();
  return response.status;
}
async function stdio(options) {
  const readable = new PassThrough();
  const writable = new PassThrough();
  writable.resume();
  const ended = serveStdio({
    server: open(),
    principal: "ada",
    readable,
    writable,
    logger: () => undefined,
    ...options,
  });
  readable.write(`${JSON.stringify(request("tools/call", { name: "breaks" }))}\n`);
  return (await ended).code;
}
async function bearer({ onUnavailable, ...jwt }, token) {
  const keys = { url: "http://127.0.0.1:9/" };
  const verifier = await createJwtVerifier({ issuer: "i", audience: "a", keys, principal: () => "ada", ...jwt });
  const admitter = createBearerAdmitter({ verifier, onUnavailable });
  return post({ admitter }, {}, { authorization: `Bearer ${token}` });
}
const signed = `${Buffer.from('{"alg":"RS256","kid":"1"}').toString("base64url")}.e30.AAAA`;
const traced = (request) => ({ instrumentation: { begin: () => request } });

const cases = {
  observer: () => call({ observers: [rejects] }),
  "observer that returns a broken thenable": () =>
    call({
      observers: [
        () => ({
          // biome-ignore lint/suspicious/noThenProperty: that is the case
          then: () => {
            calls += 1;
            throw new Error("no promise");
          },
        }),
      ],
    }),
  onObserverError: () => call({ observers: [throws(Error)], onObserverError: rejects }),
  "instrumentation.begin": () => call({ instrumentation: { begin: rejects } }),
  "instrumentation.within that derives a promise": () =>
    call(traced({ within: (work) => work().finally(count), end: () => undefined })),
  "instrumentation.within that is async": () =>
    call(
      traced({
        within: async (work) => {
          calls += 1;
          return await work();
        },
        end: () => undefined,
      }),
    ),
  "instrumentation.within that rejects": () => call(traced({ within: rejects, end: () => undefined })),
  "instrumentation.end": () => call(traced({ within: (work) => work(), end: rejects })),
  "tasks.onUnexpectedError": () => call({ tasks: { onUnexpectedError: rejects } }, "task"),
  "http onUnexpectedError": () => post({ principal: "ada", onUnexpectedError: rejects }),
  "http logger": () => post({ principal: "ada", logger: rejects }),
  "stdio onUnexpectedError": () => stdio({ onUnexpectedError: rejects }),
  "stdio logger": () => stdio({ logger: rejects }),
  "auth onRefused": () => bearer({ onRefused: rejects }, "x.y"),
  "auth onKeysError": () => bearer({ onKeysError: rejects }, signed),
  "auth onUnavailable": () => bearer({ onUnavailable: rejects }, signed),
};
for (const [name, run] of Object.entries(cases)) {
  calls = 0;
  const outcome = await run();
  await turn();
  console.log(`${name}: ${outcome}${calls > 0 ? "" : ", never called"}`);
}
for (const name of ["task-bigint", "task-cycle", "task-proxy", "task-nothing", "task-started"]) {
  calls = 0;
  const outcome = await call({ tasks: { onUnexpectedError: count } }, name);
  console.log(`${name}: ${outcome}, reported ${calls}`);
}
process.exit(0);
