import { existsSync } from "node:fs";
import { type Entry, type LogPlace, listLogs, readToDamage } from "@berth/audit-chain";
import { exitCodes, printJson, printLine } from "@berth/command-line";
import { findStateFolder } from "../state-folder.js";

/** Logs that are looked at: the newest. */
const maxLogs = 20;

interface LogStatus {
  readonly log: string;
  readonly begun: string | null;
  readonly mode: string;
  /** False when the log has no `session.close`: the gateway runs still, or was killed. */
  readonly closed: boolean;
  readonly allowUnmeasuredSpawn: boolean;
  readonly observe: boolean;
  readonly servers: readonly string[];
  readonly calls: number;
  readonly refusals: number;
  readonly unmeasured: readonly string[];
  readonly plugins: readonly PluginState[];
  /** Calls that plugins denied, or that were refused since one failed. */
  readonly denials: number;
  /** Why the rest of the log could not be read; null when it was. */
  readonly damage: string | null;
}

/** A plugin as its gateway had it. */
interface PluginState {
  readonly plugin: string;
  /** Whether it could be made ready when the gateway started. */
  readonly ready: boolean;
  /** `built`, `cached`, `rebuilt` or `installed`; null when it has none. */
  readonly environment: string | null;
}

/** Shows what the newest logs of a state folder say: how each gateway was set, what it started, what it refused. */
export async function statusCommand(options: { state: string; json?: boolean }): Promise<number> {
  const state = await findStateFolder(options.state);
  const logs: LogStatus[] = [];
  const places = existsSync(state.audit) ? await listLogs(state.audit) : []; // no gateway has written one yet
  for (const place of places.slice(-maxLogs)) logs.push(await readStatus(place));
  if (options.json === true) printJson({ state: state.path, logs });
  else {
    printLine(`state folder ${state.path}`);
    for (const log of logs) printLog(log);
  }
  return exitCodes.good;
}

async function readStatus(place: LogPlace): Promise<LogStatus> {
  const status = {
    log: place.id,
    begun: place.begun,
    mode: "?",
    closed: false,
    allowUnmeasuredSpawn: false,
    observe: false,
    calls: 0,
    refusals: 0,
    denials: 0,
  };
  const servers = new Set<string>();
  const unmeasured = new Set<string>();
  const plugins = new Map<string, PluginState>();
  let damage: string | null = null;
  const entries = readToDamage(place, {
    onDamage: (message) => {
      damage = `${message}; see berth-gateway audit verify`;
    },
  });
  for await (const entry of entries) {
    if (isDenial(entry)) status.denials += 1;
    const server = typeof entry["server"] === "string" ? entry["server"] : "";
    if (entry.type === "session.open") {
      status.mode = String(entry["mode"]);
      status.allowUnmeasuredSpawn = entry["allowUnmeasuredSpawn"] === true;
      status.observe = entry["observe"] === true;
    } else if (entry.type === "session.close") status.closed = true;
    else if (entry.type === "call.intent") status.calls += 1;
    else if (entry.type === "call.refused" || entry.type === "spawn.refused") status.refusals += 1;
    else if (entry.type === "plugin.environment" || entry.type === "plugin.failed") {
      const state = pluginState(entry, plugins);
      plugins.set(state.plugin, state);
    } else if (entry.type === "spawn") {
      servers.add(server);
      if (entry["evidence"] === "spawn-unmeasured") unmeasured.add(server);
    }
  }
  return { ...status, servers: [...servers], unmeasured: [...unmeasured], plugins: [...plugins.values()], damage };
}

function pluginState(entry: Entry, known: ReadonlyMap<string, PluginState>): PluginState {
  const plugin = String(entry["plugin"]);
  const ready = entry.type === "plugin.environment";
  const environment = ready ? String(entry["origin"]) : (known.get(plugin)?.environment ?? null);
  return { plugin, ready, environment };
}

/** Whether a call came to nothing because of plugins. */
function isDenial({ type, reason, status }: Entry): boolean {
  return (
    (type === "call.refused" && String(reason).startsWith("HOOK_")) || (type === "call.outcome" && status === "denied")
  );
}

function printLog(log: LogStatus): void {
  const flags = [
    log.closed ? "closed" : "open",
    ...(log.allowUnmeasuredSpawn ? ["allowUnmeasuredSpawn"] : []),
    ...(log.observe ? ["observe"] : []),
    ...(log.unmeasured.length > 0 ? [`unmeasured: ${log.unmeasured.join(", ")}`] : []),
  ];
  printLine(
    `${log.begun ?? "?"}  ${log.mode.padEnd(5)}  ${log.calls} calls, ${log.refusals} refusals  [${flags.join(", ")}]`,
  );
  if (log.servers.length > 0) printLine(`    ${log.servers.join(", ")}`);
  for (const { plugin, ready, environment } of log.plugins)
    printLine(`    plugin ${plugin}: ${ready ? `environment ${environment}` : "not ready; see berth-gateway doctor"}`);
  if (log.denials > 0) printLine(`    ${log.denials} calls denied by plugins`);
  if (log.damage !== null) printLine(`    ${log.damage}`);
}
