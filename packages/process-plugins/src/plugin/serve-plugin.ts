import { type AveHalf, createAveHalf } from "./ave-half.js";
import { checkDefinition } from "./check-definition.js";
import { createLineSplitter } from "./line-splitter.js";
import { createMcpHalf } from "./mcp-half.js";
import { type MessageOutput, openMessageOutput } from "./message-output.js";
import type { Log, PluginCall, PluginDefinition } from "./plugin-definition.js";
import { type Request, readLine } from "./read-line.js";
import { createTurns, type Turn } from "./turns.js";
import { type Answer, faults, isJson, methodNotFound } from "./wire.js";

/** A plugin that is served. */
export interface ServedPlugin {
  readonly log: Log;
}

/** From the end of input to the end of this process, for what was asked before it: less than the 2 s after which a host sends SIGTERM. */
const endGraceMs = 1_000;
/** Of a message of the log. */
const maxLogBytes = 8_192;

/**
 * Serves a plugin on this process's stdin and stdout until the host ends it (PROTOCOL.md): states, the gate of MCP, one request after the other, and the end of
 * the process. Call it once, and before anything prints: from then on what is printed goes to stderr.
 * @throws {ProcessPluginError} `OPTION_INVALID`.
 */
export function servePlugin(definition: PluginDefinition): ServedPlugin {
  checkDefinition(definition);
  const output = openMessageOutput(definition.outputDescriptor ?? 1);
  const log = createLog(output);
  const ave = createAveHalf(definition);
  const answers = createAnswers(definition, ave, log);
  const turns = createTurns({
    run: async (request, turn) => {
      const answer = await answers(request, turn);
      if (answer !== undefined) await sendAnswer(output, request, answer, ave.maxMessageBytes, log);
      if (ave.state === "destroyed") output.exit(0);
    },
    onRoom: () => process.stdin.resume(),
  });
  const splitter = createLineSplitter(() => ave.maxMessageBytes);
  const take = (bytes: Uint8Array | undefined): void => {
    const line = readLine(bytes);
    if (line.kind === "fault") void output.send(JSON.stringify({ jsonrpc: "2.0", id: null, error: line.fault }));
    else if (line.kind === "notification") cancelNamed(turns.cancel, line.method, line.params);
    else if (line.kind === "request") {
      if (line.request.method === "ave/instance/stop" && ave.state === "running")
        giveUpInTime(turns.giveUp, line.request.params);
      turns.push(line.request);
    }
  };
  process.stdin.on("data", (chunk: Buffer) => {
    for (const line of splitter.push(chunk)) take(line);
    if (turns.full) process.stdin.pause();
  });
  // Also when the host died: what was asked before is answered, but not waited for.
  const end = (): void => {
    setTimeout(() => process.exit(0), endGraceMs);
    void turns.idle().then(() => output.exit(0));
  };
  process.stdin.once("end", end).once("error", end);
  return { log };
}

type Answers = (request: Request, turn: Turn) => Promise<Answer | undefined>;

/** `undefined` when the host has given the request up. */
function createAnswers(definition: PluginDefinition, ave: AveHalf, log: Log): Answers {
  const mcp = definition.tools === undefined ? undefined : createMcpHalf(definition);
  const dataFolder = process.env["PLUGIN_DATA"] ?? process.cwd();
  const answer = async ({ method, params }: Request, call: PluginCall): Promise<Answer> => {
    if (method.startsWith("ave/")) return ave.answer(method, params, call);
    if (ave.state !== "running") return { error: faults.notRunning };
    return mcp?.answer(method, params, call) ?? methodNotFound(method);
  };
  return async (request, { signal, givenUp }) => {
    const stopped = givenUp.then((): Answer => ({ error: faults.notRunning }));
    const failed = (error: unknown): Answer => {
      log("error", `${request.method}: ${error instanceof Error ? error.stack : error}`);
      return { error: faults.internal };
    };
    const answered = answer(request, { signal, log, dataFolder }).catch(failed);
    // A request that was cancelled keeps its turn until its code has ended, so that no two run at once.
    return Promise.race([answered.then((value) => (signal.aborted ? undefined : value)), stopped]);
  };
}

async function sendAnswer(
  output: MessageOutput,
  { id, method }: Request,
  answer: Answer,
  maxBytes: number,
  log: Log,
): Promise<void> {
  const text = textOf(id, answer);
  if (text !== undefined && output.fits(text, maxBytes)) return output.send(text);
  log("error", `${method}: the answer is no JSON, or over the limits of a message (${maxBytes} bytes, 128 levels)`);
  return output.send(JSON.stringify({ jsonrpc: "2.0", id, error: faults.internal }));
}

function textOf(id: string | number, answer: Answer): string | undefined {
  try {
    return JSON.stringify({ jsonrpc: "2.0", id, ...answer });
  } catch {
    // A cycle, or a BigInt: the plugin's fault, told like any other.
    return undefined;
  }
}

function cancelNamed(cancel: (id: unknown) => void, method: string, params: unknown): void {
  if (method === "notifications/cancelled" && isJson(params)) cancel(params["requestId"]);
}

/** A call that is under way has half of the time that the host waits for the answer of `stop`. */
function giveUpInTime(giveUp: () => void, params: unknown): void {
  const deadlineMs = isJson(params) ? params["deadlineMs"] : undefined;
  if (typeof deadlineMs === "number" && deadlineMs >= 0)
    setTimeout(giveUp, Math.min(deadlineMs / 2, 2 ** 31 - 1)).unref();
}

function createLog(output: MessageOutput): Log {
  return (level, message) => {
    if (output.congested) return;
    // As a stream, so that a character that the cut divides is left out.
    const text = new TextDecoder().decode(Buffer.from(message).subarray(0, maxLogBytes), { stream: true });
    const params = { level, message: text };
    void output.send(JSON.stringify({ jsonrpc: "2.0", method: "ave/instance/log", params }));
  };
}
