import { type Logger, pino } from "pino";

export type { Logger } from "pino";

/** The log of this process, on stderr: stdout belongs to the protocol and to results. Readable on a terminal, JSON lines elsewhere. */
export async function createLogger(level: string): Promise<Logger> {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  // Written at once, so that nothing is lost when the process ends.
  if (!process.stderr.isTTY) return pino(options, pino.destination({ fd: 2, sync: true }));
  const { PinoPretty } = await import("pino-pretty");
  const pretty = PinoPretty({ destination: 2, sync: true, translateTime: "HH:MM:ss", ignore: "pid,hostname" });
  return pino(options, pretty);
}
