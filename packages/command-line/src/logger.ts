import type { Logger, LoggerOptions } from "pino";
import { visibleText } from "./visible-text.js";

export type { Logger } from "pino";

/**
 * The log of this process, on stderr: stdout belongs to the protocol and to results. Readable on a terminal, JSON lines with
 * `level`, `time` (ISO 8601) and `msg` elsewhere. Each line is written before the call returns. pino is loaded here, not before.
 */
export async function createLogger(level: string): Promise<Logger> {
  const { pino, stdSerializers } = await import("pino");
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  // Written at once, so that nothing is lost when the process ends.
  if (!process.stderr.isTTY) return pino(options, pino.destination({ fd: 2, sync: true }));
  const { PinoPretty } = await import("pino-pretty");
  const pretty = PinoPretty({ destination: 2, sync: true, translateTime: "HH:MM:ss", ignore: "pid,hostname" });
  const serializers = { err: (error: Error) => visibleMembers({ ...stdSerializers.err(error) }) };
  return pino({ ...options, ...visible, serializers }, pretty);
}

/** What peers write to stderr, and their names, must not act on the operator's terminal. JSON lines are escaped by their form. */
const visible: LoggerOptions = {
  formatters: { log: visibleMembers },
  hooks: {
    logMethod(args, method) {
      const [first, message] = args;
      if (typeof first === "string") method.call(this, visibleLines(first));
      else method.call(this, first, message === undefined ? undefined : visibleLines(message));
    },
  },
};

function visibleMembers(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown = (value: unknown): unknown => (typeof value === "string" ? visibleLines(value) : value);
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, shown(value)]));
}

/** A stack keeps its lines. */
function visibleLines(text: string): string {
  return text.split("\n").map(visibleText).join("\n");
}
