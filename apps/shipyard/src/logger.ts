import { type Logger, type LoggerOptions, pino, stdSerializers } from "pino";
import { visibleText } from "./visible-text.js";

export type { Logger } from "pino";

/** The log of this process, on stderr: stdout belongs to the protocol and to results. Readable on a terminal, JSON lines elsewhere. */
export async function createLogger(level: string): Promise<Logger> {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  // Written at once, so that nothing is lost when the process ends.
  if (!process.stderr.isTTY) return pino(options, pino.destination({ fd: 2, sync: true }));
  const { PinoPretty } = await import("pino-pretty");
  const pretty = PinoPretty({ destination: 2, sync: true, translateTime: "HH:MM:ss", ignore: "pid,hostname" });
  return pino({ ...options, ...visible }, pretty);
}

/** What servers write to stderr, and their names, must not act on the operator's terminal. JSON lines are escaped by their form. */
const visible: LoggerOptions = {
  formatters: { log: visibleMembers },
  serializers: { err: (error: Error) => visibleMembers({ ...stdSerializers.err(error) }) },
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
