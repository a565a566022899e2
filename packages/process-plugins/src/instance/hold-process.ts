import { once } from "node:events";
import type { Readable } from "node:stream";
import { wireErrors } from "@berth/jsonrpc-framing";
import type { PluginProcess } from "../confine/plugin-process.js";
import type { ProcessPluginError } from "../errors.js";
import { cutBytes } from "../pipe/escape-text.js";
import { createLogGate, type LogGate } from "../pipe/log-gate.js";
import { createMcpHalf, type McpHalf } from "../pipe/mcp-half.js";
import { pluginFault } from "../pipe/plugin-fault.js";
import { createPluginPipe, type PluginPipe } from "../pipe/plugin-pipe.js";
import { readStderrLines, type StderrLines } from "../pipe/stderr-lines.js";
import type { Capabilities } from "./ave-answers.js";
import { type AveHalf, createAveHalf } from "./ave-half.js";
import type { InstanceEnd } from "./instance.js";
import { createInstanceLife, type InstanceLife } from "./instance-life.js";
import type { InstanceTerms } from "./instance-terms.js";
import { logMethod, tellLog } from "./plugin-log.js";

/** A process that was just spawned, with both halves on its pipe. */
export interface HeldProcess {
  readonly process: PluginProcess;
  readonly life: InstanceLife;
  readonly ave: AveHalf;
  readonly mcp: McpHalf;
  readonly log: LogGate;
  readonly stderr: StderrLines;
  /** Refuses what it does not serve from now on. */
  learn(capabilities: Capabilities): void;
}

/** Reads all that the process writes from now on. It ends with `life`. */
export function holdProcess(
  process: PluginProcess,
  terms: InstanceTerms,
  record: (end: InstanceEnd, stderrBytes: number) => Promise<void>,
): HeldProcess {
  const { limits, timeouts, scheduler, onLog } = terms;
  const plugin = terms.name;
  // A pipe of a process that is gone fails after everybody has let go of it.
  for (const stream of [process.stdin, process.stdout, process.stderr]) stream.on("error", () => {});
  const log = createLogGate({ onLog, maxLineBytes: limits.maxLogBytes, ...limitsOfLog(terms), scheduler });
  const stderr = readStderrLines(process.stderr, limits.maxLogBytes, (line) => log.tell("stderr", "info", line), log);
  const outputEnded = Promise.all([ended(process.stdout), ended(process.stderr)]);

  const pipe: PluginPipe = createPluginPipe(
    { stdin: process.stdin, stdout: process.stdout, plugin, ...limits, scheduler },
    {
      onNotification: (method, bytes, envelope) => {
        if (method === logMethod ? tellLog(log, bytes, envelope) : mcp.onNotification(method, bytes, envelope)) return;
        log.countUnknown();
      },
      onFailure: (method, message) =>
        log.tell(
          "log",
          "warn",
          `it answered ${cutBytes(method, maxMethodBytes)} with the error ${wireErrors.internal}: ${message}`,
        ),
      onFault: (error) => void life.fail({ reason: "protocol", error }),
      onSilence: (words) => life.onSilence(words),
    },
  );
  const mcp: McpHalf = createMcpHalf({
    pipe,
    plugin,
    refusal: () => life.refusal("call") ?? unserved,
    callTimeoutMs: timeouts.callMs,
    maxMessageBytes: limits.maxMessageBytes,
  });
  const onBroken = (error: ProcessPluginError): void => void life.fail({ reason: "protocol", error });
  const ave = createAveHalf(pipe, terms, onBroken);
  const life: InstanceLife = createInstanceLife({
    process,
    terms,
    ave,
    readOn: pipe.readOn,
    outputEnded,
    endPipe: (cause) => {
      pipe.end(cause);
      mcp.end(cause);
      process.stdout.resume(); // what comes now is dropped, and its end is seen
    },
    onEnded: async (end) => {
      stderr.close();
      log.close();
      for (const stream of [process.stdin, process.stdout, process.stderr]) stream.destroy();
      await record(end, stderr.byteCount);
    },
  });
  let unserved: ProcessPluginError | undefined;
  const learn = (capabilities: Capabilities): void => {
    unserved = capabilities.mcp ? undefined : pluginFault(plugin, "PLUGIN_NOT_RUNNING", "does not serve MCP");
  };
  return { process, life, ave, mcp, log, stderr, learn };
}

/** Of a method, which a client wrote. */
const maxMethodBytes = 200;

function limitsOfLog({ limits }: InstanceTerms): { readonly maxLinesPerSecond: number } {
  return { maxLinesPerSecond: limits.maxLogLinesPerSecond };
}

/** When no more can come of a stream: its end, or its being destroyed. */
async function ended(stream: Readable): Promise<void> {
  if (!stream.destroyed) await once(stream, "close").catch(() => {}); // an error is followed by `close`
}
