import type { Scheduler, SchedulerTimer } from "@berth/jsonrpc-framing";
import type { PluginLogLine } from "../instance/instance.js";
import { cutBytes, escapeText } from "./escape-text.js";

/** What a plugin wrote for its operator, bounded in length and in number. */
export interface LogGate {
  /** `text` is as the plugin wrote it. */
  tell(from: PluginLogLine["from"], level: PluginLogLine["level"], text: string): void;
  /** Whether the next line would be left out. */
  isFull(): boolean;
  /** Counts lines that nobody has to read for that. */
  leaveOut(lines: number): void;
  /** Counts a notification that nobody knows; the first is told, and at the end how many there were. */
  countUnknown(): void;
  /** The last line from standard error, escaped: what a plugin that does not start has to say. */
  readonly lastStderr: string | undefined;
  /** Tells what was left out so far; no timer remains. */
  close(): void;
}

/** What bounds it. */
export interface LogGateOptions {
  readonly onLog: (line: PluginLogLine) => void;
  readonly maxLineBytes: number;
  readonly maxLinesPerSecond: number;
  readonly scheduler: Scheduler;
}

const windowMs = 1_000;

/** At most so many lines in a second; the rest is counted and told as one line when that second is over. */
export function createLogGate({ onLog, maxLineBytes, maxLinesPerSecond, scheduler }: LogGateOptions): LogGate {
  let windowEnd = Number.NEGATIVE_INFINITY;
  let told = 0;
  let leftOut = 0;
  let unknown = 0;
  let lastStderr: string | undefined;
  let timer: SchedulerTimer | undefined;

  const tellLeftOut = (): void => {
    timer?.cancel();
    timer = undefined;
    if (leftOut === 0) return;
    const text = `${leftOut} more lines in this second were left out`;
    leftOut = 0;
    onLog({ from: "log", level: "warn", text });
  };
  const leaveOut = (lines: number): void => {
    leftOut += lines;
    if (timer !== undefined) return;
    timer = scheduler.after(Math.max(1, windowEnd - scheduler.now()), tellLeftOut);
    timer.hold(false);
  };
  const isFull = (): boolean => {
    const now = scheduler.now();
    if (now >= windowEnd) {
      tellLeftOut();
      windowEnd = now + windowMs;
      told = 0;
    }
    return told >= maxLinesPerSecond;
  };
  return {
    tell: (from, level, raw) => {
      if (isFull()) return leaveOut(1);
      told += 1;
      const text = escapeText(cutBytes(raw, maxLineBytes));
      if (from === "stderr" && text !== "") lastStderr = text;
      onLog({ from, level, text });
    },
    isFull,
    leaveOut,
    countUnknown: () => {
      unknown += 1;
      if (unknown === 1) onLog({ from: "log", level: "warn", text: "it sent a notification that is for nobody" });
    },
    get lastStderr() {
      return lastStderr;
    },
    close: () => {
      tellLeftOut();
      if (unknown > 1) onLog({ from: "log", level: "warn", text: `${unknown} notifications of it were for nobody` });
    },
  };
}
