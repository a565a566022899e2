import { createMemoryPair } from "@berth/stdio-transport/memory";
import type { ExitReport, UpstreamConnection } from "../../src/index.js";
import { createWireEnd, type Message, type WireEnd } from "./wire-end.js";

/** Answers one method: a result as JSON text, or undefined to stay silent. Throwing an object with code answers an error. */
export type Answerer = (message: Message, server: ScriptedServer) => string | undefined;
/** What a scripted server does, by method. */
export type Script = Readonly<Record<string, Answerer>>;

/** A server in this process: no child, but the same frames. */
export interface ScriptedServer extends WireEnd {
  readonly connection: UpstreamConnection;
  /** Ends as a process does. */
  exit(code: number): void;
  /** Whether the relay closed it. */
  readonly wasClosed: boolean;
}

/** An `initialize` result. */
export function introduction(capabilities: object, more: object = {}): Answerer {
  return (message) =>
    JSON.stringify({
      protocolVersion: message.params?.["protocolVersion"] ?? "2025-11-25",
      capabilities,
      serverInfo: { name: "scripted", version: "1.0.0" },
      ...more,
    });
}

/** A tool's definition. */
export function tool(name: string, description = `does ${name}`): object {
  return { name, description, inputSchema: { type: "object" } };
}

/** Lists these tools, echoes the arguments of calls. */
export function toolServer(tools: readonly object[], more: Script = {}): Script {
  return {
    initialize: introduction({ tools: { listChanged: true } }),
    "tools/list": () => JSON.stringify({ tools }),
    "tools/call": ({ params }) => JSON.stringify({ content: [{ type: "text", text: JSON.stringify(params) }] }),
    ...more,
  };
}

/** Starts one. */
export function openScripted(
  script: Script,
  evidence: UpstreamConnection["evidence"] = { evidence: "spawn-measured" },
): ScriptedServer {
  const [near, far] = createMemoryPair();
  let wasClosed = false;
  let settleExit: (exit: ExitReport) => void = () => undefined;
  const exited = new Promise<ExitReport>((resolve) => {
    settleExit = resolve;
  });
  const end = createWireEnd(far, ({ message }) => {
    const { id, method } = message;
    if (id === undefined || method === undefined) return;
    const answer = script[method];
    const written = JSON.stringify(id);
    if (answer === undefined) {
      end.send(`{"jsonrpc":"2.0","id":${written},"error":{"code":-32601,"message":"Method not found"}}`);
      return;
    }
    const result = answer(message, server);
    if (result !== undefined) end.send(`{"jsonrpc":"2.0","id":${written},"result":${result}}`);
  });
  const exit = (code: number): void => {
    settleExit({ code, signal: null });
    void far.close();
  };
  const connection: UpstreamConnection = {
    transport: near,
    evidence,
    exited,
    stderrBytes: () => 7,
    async close() {
      wasClosed = true;
      settleExit({ code: 0, signal: null });
      await near.close();
    },
  };
  const server: ScriptedServer = {
    ...end,
    connection,
    exit,
    get wasClosed() {
      return wasClosed;
    },
  };
  return server;
}
