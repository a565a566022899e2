import type { Logger } from "@berth/command-line";
import type { OpenUpstream, UpstreamConnection } from "@berth/mcp-relay";
import type { SpawnDescription } from "@berth/spawn-attestation";
import {
  type AttestedChild,
  attestedSpawn,
  isAttestationError,
  type Measurer,
  type SpawnPolicy,
} from "@berth/spawn-attestation";
import { type ChildHandle, type ExitStatus, openChild } from "@berth/stdio-transport";
import type { SessionLog } from "./session-log.js";
import type { StateFolder } from "./state-folder.js";

/** What may be started under a name. */
export type PlannedServer =
  | {
      readonly kind: "stdio";
      readonly description: SpawnDescription;
      readonly environmentNames: readonly string[];
      readonly limits: { readonly maxFrameBytes?: number | undefined; readonly maxQueuedBytes?: number | undefined };
      /** Accepted just now, by the first use. */
      readonly firstUse?: boolean | undefined;
    }
  | { readonly kind: "network"; readonly transport: string }
  /** Its first use has failed already; calls get the reason. */
  | { readonly kind: "failed"; readonly error: unknown };

/** What all starts of one process share. */
export interface ServerStarter {
  readonly servers: ReadonlyMap<string, PlannedServer>;
  readonly policy: SpawnPolicy;
  readonly log: Pick<SessionLog, "append" | "recordDecision">;
  readonly state: StateFolder;
  readonly measurer: Measurer;
  readonly logger: Logger;
  /** What a person can do about a refusal: a command line, or a key. */
  advise(server: string, reason: string): string | undefined;
}

/** Refuses a server. The relay puts `reason`, digests and the message into the client's error. */
export class ServerRefusal extends Error {
  override readonly name = "ServerRefusal";
  readonly reason: string;
  readonly advice: string | undefined;
  readonly target: string | undefined;
  readonly expected: string | undefined;
  readonly measured: string | undefined;
  constructor(reason: string, message: string, details: RefusalDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.advice = details.advice;
    this.target = details.target;
    this.expected = details.expected;
    this.measured = details.measured;
  }
}

interface RefusalDetails {
  readonly advice?: string | undefined;
  readonly target?: string | undefined;
  readonly expected?: string | undefined;
  readonly measured?: string | undefined;
  readonly cause?: unknown;
}

/** A started server, with what the log wants to know about its child. */
export interface OpenedServer extends UpstreamConnection {
  readonly containment: ChildHandle["containment"];
}

/** Measures, decides, records and starts one server. Rejects with a `ServerRefusal` when it is refused. */
export async function openServer(starter: ServerStarter, name: string, signal: AbortSignal): Promise<OpenedServer> {
  const server = starter.servers.get(name);
  if (server === undefined) throw new Error(`no server is called ${name}`);
  if (server.kind === "network") return refuseNetwork(starter, name, server.transport);
  if (server.kind === "failed") throw server.error;
  const { description, limits } = server;
  const logger = starter.logger.child({ server: name });
  const recorded: { expected?: string | undefined; measured?: string | undefined; target?: string | undefined } = {};
  const facts = {
    environmentNames: [...server.environmentNames],
    firstUse: server.firstUse === true ? true : undefined,
  };
  try {
    const attested = await attestedSpawn<ChildHandle>({
      description,
      policy: starter.policy,
      record: async (decision) => {
        Object.assign(recorded, { expected: decision.expected, measured: decision.measured, target: decision.target });
        await starter.log.recordDecision(name, decision, facts);
        const { verdict, evidence, reason, message } = decision;
        if (verdict === "refuse") logger.warn({ reason }, `refused: ${message}`);
        else if (evidence === "spawn-unmeasured")
          logger.warn({ reason }, `started although it is not measured: ${message}`);
        else logger.info({ digest: decision.measured, coverage: decision.coverage }, "measured");
      },
      spawn: ({ file, argv0, args, env, cwd }) =>
        openChild({
          ...limits,
          ...{ file, argv0, args, env, cwd, signal },
          registry: starter.state.children,
          onStderrLine: (line) => logger.info({ stderr: line }),
        }),
      end: (child) => child.kill(),
      snapshots: starter.state.snapshots,
      scratch: starter.state.scratch,
      measurer: starter.measurer,
      signal,
    });
    logger.info({ pid: attested.child.pid, containment: attested.child.containment }, "started");
    return connection(attested, (error) => asRefusal(starter, name, error, recorded));
  } catch (error) {
    throw asRefusal(starter, name, error, recorded);
  }
}

/** What is told about the starts of a session. */
export interface StartWatch {
  onOpened(name: string, server: OpenedServer): void;
  onFailed(name: string, error: unknown): void;
}

/** The relay's function for these servers. */
export function createOpenUpstream(starter: ServerStarter, watch: StartWatch): OpenUpstream {
  return async (name, { signal }) => {
    try {
      const opened = await openServer(starter, name, signal);
      watch.onOpened(name, opened);
      return opened;
    } catch (error) {
      watch.onFailed(name, error);
      throw error;
    }
  };
}

function connection(attested: AttestedChild<ChildHandle>, refused: (error: unknown) => unknown): OpenedServer {
  const { child, decision } = attested;
  return {
    transport: child.transport,
    evidence: {
      evidence: decision.evidence,
      digest: decision.measured,
      guard: decision.guard,
      coverage: decision.coverage,
    },
    containment: child.containment,
    recheck: () => attested.recheck().catch((error: unknown) => Promise.reject(refused(error))),
    exited: child.exited.then((status: ExitStatus) => status),
    stderrBytes: () => child.stderr.byteCount,
    close: () => child.close(),
  };
}

/** The refusal that a fault of the measuring means; any other error stays as it is. */
export function asRefusal(
  starter: Pick<ServerStarter, "advise">,
  name: string,
  error: unknown,
  recorded: RefusalDetails = {},
): unknown {
  if (!isAttestationError(error)) return error;
  const advice = starter.advise(name, error.code) ?? error.advice;
  return new ServerRefusal(error.code, error.message, { ...recorded, advice, cause: error });
}

async function refuseNetwork(starter: ServerStarter, name: string, transport: string): Promise<never> {
  const reason = "UPSTREAM_TRANSPORT_UNSUPPORTED";
  await starter.log.append({ type: "spawn.refused", server: name, reason });
  throw new ServerRefusal(reason, `${name} is a ${transport} server, and this version serves stdio servers only`, {
    advice: `connect the client to it directly, or take servers.${name} out of the catalog`,
  });
}
