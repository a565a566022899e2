import type { JsonObject } from "@berth/jsonrpc-framing";
import type { BenchTargets } from "../bench.js";
import { argumentsOf } from "../conversation/script.js";
import type { ListenerName, Listeners } from "./targets.js";
import type { Victim } from "./victim.js";

/** Everything that attempts of a plugin aim at. */
export interface Aims {
  readonly bench: BenchTargets;
  readonly listeners: Listeners;
  readonly victim: Victim;
  readonly abstractName: string;
  readonly socketPath: string;
}

/** One attempt, made by the process of a plugin with one of its tools. */
export interface PluginAttempt {
  /** Of the finding: `escape:ID`. */
  readonly id: string;
  readonly tool: "escape_secrets" | "escape_network" | "escape_attempt";
  readonly arguments: JsonObject;
  /** SHA-256 of what it would read, one for each answer. */
  readonly reads?: readonly string[] | undefined;
  /** Where on this machine it would be seen. */
  readonly seenAt?: ListenerName | "victim" | undefined;
}

/** Escapes 1 and 2 of the protocol's design, and of the kit of process-confinement those that are harmless without a sandbox. */
export function pluginAttempts(aims: Aims, shaOf: (bytes: Buffer) => string): readonly PluginAttempt[] {
  const { bench, listeners, victim, abstractName, socketPath } = aims;
  const { secret, other, secretsDir, otherDataDir } = bench;
  const targets = { ...bench, port: listeners.tcpPort };
  const [secretSha, otherSha] = [shaOf(secret), shaOf(other)];
  const attempt = (id: string, aim: JsonObject, more: Partial<PluginAttempt> = {}): PluginAttempt => ({
    id: `plugin/${id}`,
    tool: "escape_attempt",
    arguments: { attempt: id, ...aim },
    ...more,
  });
  const path = `${secretsDir}/secret`;
  const readers = ["secret-path", "dot-dot-path", "dot-dot-descriptor", "proc-root", "symbolic-link", "hard-link"];
  return [
    {
      id: "escape_secrets",
      tool: "escape_secrets",
      arguments: argumentsOf("escape_secrets", targets),
      reads: [secretSha, otherSha],
    },
    {
      id: "escape_network",
      tool: "escape_network",
      arguments: argumentsOf("escape_network", targets),
      seenAt: "tcp",
    },
    ...readers.map((id) => attempt(id, { path }, { reads: [secretSha] })),
    attempt("other-owner", { path: `${otherDataDir}/secret` }, { reads: [otherSha] }),
    attempt("process-environment", { pid: victim.pid }, { reads: [victim.environSha256] }),
    attempt("signal", { pid: victim.pid }, { seenAt: "victim" }),
    attempt("ptrace", { pid: victim.pid }),
    attempt("host-loopback", { port: listeners.tcpPort }, { seenAt: "tcp" }),
    attempt("host-datagram", { port: listeners.udpPort }, { seenAt: "udp" }),
    attempt("abstract-socket", { socket: abstractName }, { seenAt: "abstract" }),
    attempt("path-socket", { socket: socketPath }, { seenAt: "path" }),
    attempt("measured-tree", {}),
    attempt("device-node", {}),
    attempt("other-user", {}),
    attempt("unshare", {}),
    attempt("keyring", {}),
    attempt("bpf", {}),
    attempt("io-uring", {}),
  ];
}
