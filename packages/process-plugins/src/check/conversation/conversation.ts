import { type JsonObject, systemScheduler } from "@berth/jsonrpc-framing";
import type { PluginExit, PluginProcess } from "../../confine/plugin-process.js";
import { ProcessPluginError } from "../../errors.js";
import type { PluginLogLine } from "../../instance/instance.js";
import { excerptOf } from "../../pipe/escape-text.js";
import { createLogGate, type LogGate } from "../../pipe/log-gate.js";
import { readNullAnswer, readPluginFrame } from "../../pipe/plugin-frame.js";
import { readStderrLines } from "../../pipe/stderr-lines.js";
import type { TranscriptEntry } from "../transcript/transcript.js";
import { shown } from "./judge-results.js";
import { createMinutes } from "./minutes.js";
import { readFrames } from "./read-frames.js";
import { type Answer, createTurn, isJsonObject } from "./turn.js";

/**
 * One request after the other over the pipe of a started plugin, and all that was written, in order. It sends whatever it is told to,
 * also what the host of an instance would refuse: that is what a check is about.
 */
export interface Conversation {
  readonly entries: readonly TranscriptEntry[];
  /**
   * @throws {ProcessPluginError} `PLUGIN_PROTOCOL`, `PLUGIN_TIMEOUT`, `PLUGIN_EXITED`; from then on always. Also the signal's reason.
   */
  ask(method: string, params: JsonObject, timeoutMs: number): Promise<Answer>;
  /** Sends a line that is no request; its answer has the id null. It is not in `entries`. @throws as `ask`. */
  askUnreadable(line: string, what: string, timeoutMs: number): Promise<Answer>;
  /** What is wrong with what it wrote besides answers, a sentence each. */
  readonly remarks: readonly string[];
  /** What made it impossible to go on, also since the last answer. */
  readonly fault: ProcessPluginError | undefined;
  /** The last line of standard error, escaped. */
  readonly lastStderr: string | undefined;
  /** Resolves when everything that the plugin wrote was read; its process has ended. */
  readonly read: Promise<void>;
  close(): void;
}

/** What a conversation needs. */
export interface ConversationOptions {
  readonly process: PluginProcess;
  readonly onLog: (line: PluginLogLine) => void;
  readonly maxMessageBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** Most remarks of one conversation: each could be the same. */
const maxRemarks = 8;
const logBounds = { maxLineBytes: 8_192, maxLinesPerSecond: 1_000 };

export function openConversation({
  process: plugin,
  onLog,
  maxMessageBytes,
  signal,
}: ConversationOptions): Conversation {
  const turn = createTurn(signal);
  const minutes = createMinutes();
  const remarks: string[] = [];
  const log = createLogGate({ ...logBounds, onLog, scheduler: systemScheduler });
  const stderr = readStderrLines(plugin.stderr, logBounds.maxLineBytes, (line) => log.tell("stderr", "info", line));
  const broke = (what: string): void => turn.fail(new ProcessPluginError("PLUGIN_PROTOCOL", `${what}${turn.asked}`));

  const onLine = (bytes: Uint8Array): void => {
    if (turn.fault !== undefined) return; // what comes after a fault means nothing any more
    const frame = readPluginFrame(bytes);
    if (frame.kind === "fault") {
      const nameless = readNullAnswer(bytes);
      if (nameless !== undefined && turn.answerNull(nameless)) return;
      minutes.raw(excerptOf(bytes));
      broke(`it wrote ${frame.fault} (${excerptOf(bytes)})`);
      return;
    }
    const msg: JsonObject = JSON.parse(Buffer.from(bytes).toString("utf8"));
    if (frame.kind === "notification" && frame.method === "ave/instance/log") {
      const wrong = tellLog(log, msg);
      if (wrong !== undefined && remarks.length < maxRemarks) remarks.push(wrong);
      return;
    }
    const excess = minutes.plugin(msg, bytes.length);
    const wrong = excess ?? (frame.kind === "answer" ? turn.answer(frame.id, frame.error, msg) : undefined);
    if (wrong !== undefined) broke(wrong);
  };
  const onBroken = (what: string, raw: string): void => {
    if (turn.fault === undefined) minutes.raw(raw);
    broke(`it wrote ${what}`);
  };
  const read = readFrames(plugin, maxMessageBytes, { onLine, onBroken });
  void Promise.all([plugin.exited, read]).then(([exit]) => {
    turn.fail(new ProcessPluginError("PLUGIN_EXITED", `${describeExit(exit)}${turn.asked}`));
  });
  plugin.stdin.on("error", () => {}); // that it closed its input is told by its end, or by an answer that does not come

  return {
    entries: minutes.entries,
    remarks,
    read,
    get fault() {
      return turn.fault;
    },
    get lastStderr() {
      return log.lastStderr;
    },
    ask: (method, params, timeoutMs) =>
      turn.take(method, timeoutMs, (id) => {
        const msg = { jsonrpc: "2.0", id, method, params };
        minutes.host(msg);
        plugin.stdin.write(`${JSON.stringify(msg)}\n`);
      }),
    askUnreadable: (line, what, timeoutMs) =>
      turn.takeUnreadable(what, timeoutMs, () => void plugin.stdin.write(`${line}\n`)),
    close: () => {
      stderr.close();
      log.close();
    },
  };
}

/** @returns what is wrong with it. */
function tellLog(log: LogGate, { params }: JsonObject): string | undefined {
  const { level, message } = isJsonObject(params) ? params : {};
  const known = (["debug", "info", "warn", "error"] as const).find((each) => each === level);
  log.tell("log", known ?? "info", typeof message === "string" ? message : "");
  if (known === undefined) return `it logged with the level ${shown(level)}, which is none of debug, info, warn, error`;
  return typeof message === "string" ? undefined : "it logged a message that is no text";
}

function describeExit({ code, signal, reason }: PluginExit): string {
  const how = reason === "exited" || reason === "signalled" ? "it ended" : `it was ended (${reason})`;
  return `${how} with ${signal ?? `status ${code}`}`;
}
