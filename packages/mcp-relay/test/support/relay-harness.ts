import { createMemoryPair } from "@berth/stdio-transport/memory";
import {
  createRelaySession,
  type RelayEvent,
  type RelayNotice,
  type RelayOptions,
  type RelaySession,
  type ServerPolicy,
  type UpstreamConnection,
  type UpstreamFault,
} from "../../src/index.js";
import { openScripted, type Script, type ScriptedServer } from "./scripted-server.js";
import { createWireEnd, type Json, type Received, type WireEnd } from "./wire-end.js";

/** One server of a test's relay. */
export interface TestServer extends Omit<ServerPolicy, "name"> {
  readonly script?: Script | undefined;
  /** Instead of a script. */
  readonly open?: ((signal: AbortSignal) => Promise<UpstreamConnection>) | undefined;
}

/** A client as tests use it. */
export interface TestClient extends WireEnd {
  /** Sends a request with an id of its own and waits for the answer. */
  request(method: string, params?: object, id?: string | number): Promise<Received>;
  /** The handshake. */
  initialize(params?: object): Promise<Received>;
}

/** A relay between a test's client and its servers. */
export interface Harness extends AsyncDisposable {
  readonly client: TestClient;
  readonly session: RelaySession;
  readonly events: RelayEvent[];
  readonly notices: RelayNotice[];
  readonly faults: UpstreamFault[];
  /** Children of a server in the order of their start. */
  started(server: string): readonly ScriptedServer[];
  /** The present child of a server, which must have been started. */
  child(server: string): ScriptedServer;
}

/** Builds one. Options of the relay may be given, but for those that the harness makes. */
export function openHarness(
  servers: Readonly<Record<string, TestServer>>,
  options: Partial<RelayOptions> = {},
): Harness {
  const [near, far] = createMemoryPair();
  const events: RelayEvent[] = [];
  const notices: RelayNotice[] = [];
  const faults: UpstreamFault[] = [];
  const children = new Map<string, ScriptedServer[]>();
  const session = createRelaySession({
    downstream: near,
    servers: Object.entries(servers).map(([name, policy]) => ({ ...policy, name })),
    serverInfo: { name: "test-gateway", version: "1.2.3" },
    async openUpstream(name, { signal }) {
      const { script = {}, open } = servers[name] ?? {};
      if (open !== undefined) return open(signal);
      const server = openScripted(script);
      children.set(name, [...(children.get(name) ?? []), server]);
      return server.connection;
    },
    record(event) {
      events.push(event);
      return undefined;
    },
    onNotice: (notice) => notices.push(notice),
    onFault: (fault) => faults.push(fault),
    ...options,
  });
  const client = createTestClient(createWireEnd(far));
  return {
    client,
    session,
    events,
    notices,
    faults,
    started: (server) => children.get(server) ?? [],
    child(server) {
      const child = children.get(server)?.at(-1);
      if (child === undefined) throw new Error(`no child of ${server} was started`);
      return child;
    },
    async [Symbol.asyncDispose]() {
      await session.close();
      await far.close();
    },
  };
}

/** A client over any wire end. */
export function createTestClient(end: WireEnd): TestClient {
  let lastId = 0;
  const request = (method: string, params?: object, id?: string | number): Promise<Received> => {
    lastId += 1;
    const own = id ?? `t${lastId}`;
    end.send({ jsonrpc: "2.0", id: own, method, params });
    return end.take((message) => message.id === own && message.method === undefined, `the answer to ${method}`);
  };
  return {
    ...end,
    request,
    async initialize(params = {}) {
      const clientInfo = { name: "test-client", version: "0.1.0" };
      const answer = await request("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo,
        ...params,
      });
      end.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      return answer;
    },
  };
}

/** Members of a result's list, by name. */
export function namesIn(received: Received, member: string, key = "name"): Json[] {
  const list = received.message.result?.[member];
  return Array.isArray(list)
    ? list.map((item) =>
        typeof item === "object" && item !== null && !Array.isArray(item) ? (item[key] ?? null) : null,
      )
    : [];
}
