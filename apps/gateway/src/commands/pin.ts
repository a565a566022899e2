import {
  createLogger,
  type ExitSignals,
  exitCodes,
  listenForExit,
  printJson,
  printLine,
  say,
} from "@berth/command-line";
import { createMeasurer } from "@berth/spawn-attestation";
import { adviseAboutPath } from "../advice.js";
import { callerEnvironment, foldersOfNpm } from "../caller-environment.js";
import { type CatalogFile, loadCatalog } from "../catalog-file.js";
import { type GatewayConfig, loadConfig } from "../config.js";
import { GatewayError } from "../errors.js";
import { examineServer } from "../examine-server.js";
import { ServerRefusal, type ServerStarter } from "../open-server.js";
import { acceptPins, type PinSubject } from "../pin-accept.js";
import { comparePins } from "../pin-compare.js";
import { linesForPeople, type PinResult, pinnedForPrograms } from "../pin-show.js";
import { planServer } from "../plan-servers.js";
import { startProgress } from "../progress.js";
import { findRunServer, newRunServer, runName, withIgnored, withVariables } from "../run-catalog.js";
import { openSessionLog } from "../session-log.js";
import { openStateFolder, type StateFolder } from "../state-folder.js";
import { version } from "../version.js";

/** What the command line says. */
export interface PinOptions {
  /** After `--`: a server that `run` starts. */
  readonly command: readonly string[];
  readonly catalog?: string | undefined;
  readonly server: readonly string[];
  readonly env: readonly string[];
  /** With a command: files of the server's folder that the digest leaves out. */
  readonly measureIgnore?: readonly string[] | undefined;
  readonly config?: string | undefined;
  readonly state: string;
  readonly yes?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Measures, starts and lists servers, shows what is about to be trusted and what changed, and writes pins when told to. */
export async function pinCommand(options: PinOptions): Promise<number> {
  const results = await pinServers(options);
  if (options.json === true) printJson({ servers: pinnedForPrograms(results) });
  return exitCodeFor(results);
}

/** The same, for a command that goes on with the results; with `json` nothing is printed and nothing asked. */
export async function pinServers(options: PinOptions): Promise<readonly PinResult[]> {
  if (options.command.length > 0 === (options.catalog !== undefined)) {
    throw new GatewayError(
      "USAGE",
      "say what to pin: --catalog FILE, or -- and the command line of a server that `run` starts",
    );
  }
  if (options.catalog !== undefined && (options.measureIgnore ?? []).length > 0)
    throw new GatewayError("USAGE", "in a catalog, say spawn.measureIgnore instead of --measure-ignore");
  const config = await loadConfig(options.config);
  const catalog = options.catalog === undefined ? undefined : await loadCatalog(options.catalog);
  const state = await openStateFolder(options.state);
  const subjects =
    catalog === undefined ? [await runSubject(options, state)] : catalogSubjects(catalog, options.server);
  const exits = listenForExit();
  try {
    const results = await examineAll(subjects, config, state, catalog, exits);
    return await present(results, subjects, options, { state, catalog }, exits.signal);
  } finally {
    exits.release();
  }
}

/** 1 when a server could not be measured or started, 3 when something new or changed was not accepted. */
export function exitCodeFor(results: readonly PinResult[]): number {
  if (results.some(({ status }) => status === "error")) return exitCodes.failed;
  return results.some(({ status }) => status === "new" || status === "changed") ? exitCodes.refused : exitCodes.good;
}

async function runSubject(options: PinOptions, state: StateFolder): Promise<PinSubject> {
  const [command = "", ...args] = options.command;
  const line = { command, args, cwd: process.cwd() };
  const name = runName(line);
  const held = await findRunServer(state, name);
  const server = withIgnored(
    withVariables(held ?? newRunServer(line, options.env), options.env),
    options.measureIgnore ?? [],
  );
  return { name, server, directory: process.cwd() };
}

function catalogSubjects({ catalog, directory }: CatalogFile, wanted: readonly string[]): PinSubject[] {
  const unknown = wanted.filter((name) => !catalog.servers.has(name));
  if (unknown.length > 0) throw new GatewayError("USAGE", `the catalog has no server called ${unknown.join(", ")}`);
  return [...catalog.servers].flatMap(([name, server]) => {
    const isMeant = wanted.length === 0 || wanted.includes(name);
    return isMeant && server.transport === "stdio" ? [{ name, server, directory }] : [];
  });
}

async function examineAll(
  subjects: readonly PinSubject[],
  config: GatewayConfig,
  state: StateFolder,
  catalog: CatalogFile | undefined,
  exits: ExitSignals,
): Promise<PinResult[]> {
  // Only what goes wrong: the report says the rest.
  const logger = await createLogger("error");
  const measurer = createMeasurer();
  const log = await openSessionLog({
    folder: state.audit,
    durability: config.audit.durability,
    now: Date.now,
    opening: {
      mode: "pin",
      version,
      pid: process.pid,
      catalog: catalog?.path,
      catalogDigest: catalog?.digest,
      servers: subjects.map(({ name }) => name),
    },
  });
  const advise = (_server: string, reason: string): string | undefined => adviseAboutPath(reason);
  const starter = { policy: { allowUnmeasuredSpawn: false }, log, state, measurer, logger, advise };
  const results: PinResult[] = [];
  const progress = await startProgress();
  try {
    for (const subject of subjects) {
      progress.show(`measuring and starting ${subject.name} (${results.length + 1} of ${subjects.length})`);
      results.push(await examineSubject(subject, config, starter, exits.signal));
    }
    return results;
  } finally {
    progress.end();
    await measurer.close();
    await log.close(exits.cause() ?? "DONE");
  }
}

async function examineSubject(
  { name, server, directory }: PinSubject,
  config: GatewayConfig,
  starter: Omit<ServerStarter, "servers">,
  signal: AbortSignal,
): Promise<PinResult> {
  const plan = await planServer(server, { directory, variables: callerEnvironment(process.env), config });
  if (!plan.ok)
    return { name, status: "error", error: { reason: "ENVIRONMENT_UNRESOLVED", message: plan.problems.join("; ") } };
  if (plan.planned.kind !== "stdio") throw new Error("only stdio servers are pinned");
  const { description, environmentNames, limits } = plan.planned;
  const deadlines = { ...config.deadlines, ...server.deadlines };
  try {
    const examined = await examineServer(starter, { name, description, environmentNames, limits, deadlines, signal });
    const comparison = comparePins(server, examined);
    return { name, status: comparison.status, description, environmentNames, examined, comparison };
  } catch (error) {
    signal.throwIfAborted();
    return { name, status: "error", description, error: faultOf(error) };
  }
}

function faultOf(error: unknown): NonNullable<PinResult["error"]> {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ServerRefusal) return { reason: error.reason, message, advice: error.advice };
  return { reason: error instanceof Error && "code" in error ? String(error.code) : "START_FAILED", message };
}

async function present(
  results: readonly PinResult[],
  subjects: readonly PinSubject[],
  options: PinOptions,
  place: { readonly state: StateFolder; readonly catalog: CatalogFile | undefined },
  signal: AbortSignal,
): Promise<readonly PinResult[]> {
  if (foldersOfNpm(process.env).length > 0) say(aboutNpm);
  if (options.json !== true) for (const result of results) for (const line of linesForPeople(result)) printLine(line);
  const mayAsk = options.json !== true && process.stdin.isTTY === true && process.stderr.isTTY === true;
  const accepted = await acceptPins(results, subjects, { all: options.yes === true, mayAsk, ...place, signal });
  if (options.json !== true)
    for (const { name, status } of accepted) if (status === "pinned") printLine(`${name}: pinned`);
  const open = accepted.filter(({ status }) => status === "new" || status === "changed").map(({ name }) => name);
  if (open.length > 0 && !mayAsk) say(`not written: ${open.join(", ")}; run again with --yes to accept what is shown`);
  return accepted;
}

const aboutNpm = "node_modules/.bin on PATH is not looked in for servers' programs, since a client seldom has it there";
