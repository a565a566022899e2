import type { JsonObject } from "@berth/jsonrpc-framing";
import type { Display, OutputEvent, OutputText } from "../outcome.js";
import type { SessionTerms } from "../session-terms.js";
import { createTextLog } from "./text-log.js";
import { type CallAnswer, readCount, readDisplay, readStream, readText, WireFault } from "./wire.js";

/** What one call said so far. Bounded as the worker's own bounds are: more than those is not from our worker alone. */
export interface CallLog {
  /** @throws {WireFault} when it is more than the bounds, or not of this call. */
  take(method: string, params: JsonObject): void;
  texts(answer: CallAnswer | undefined): Readonly<Record<"stdout" | "stderr" | "output", OutputText>>;
  readonly displays: readonly Display[];
}

const maxDisplays = 1_000;

export function createCallLog(
  call: number,
  terms: SessionTerms,
  onOutput: ((event: OutputEvent) => void) | undefined,
): CallLog {
  const logs = { stdout: createTextLog(), stderr: createTextLog(), output: createTextLog() };
  const displays: Display[] = [];
  let textRoom = terms.maxOutputBytes;
  let displayRoom = terms.maxDisplayBytes;

  const takeOutput = (params: JsonObject): void => {
    const stream = readStream(params["stream"]);
    const text = readText(params["text"]);
    // A byte makes at most one UTF-16 unit, so our worker never comes here.
    if (text.length === 0 || text.length > textRoom) throw new WireFault("more output than the worker tells");
    textRoom -= text.length;
    logs[stream].add(text);
    logs.output.add(text);
    onOutput?.({ kind: stream, text });
  };
  const takeDisplay = (params: JsonObject): void => {
    const { display, chars } = readDisplay(params);
    if (chars > displayRoom || displays.length >= maxDisplays)
      throw new WireFault("more displays than the worker tells");
    displayRoom -= chars;
    displays.push(display);
    onOutput?.({ kind: "display", display });
  };

  return {
    displays,
    take(method, params) {
      if (readCount(params["call"]) !== call) throw new WireFault("output of a call that does not run");
      if (method === "output") takeOutput(params);
      else if (method === "display") takeDisplay(params);
      else throw new WireFault("an unknown notification"); // its name is the code's, and the end is told to logs
    },
    texts(answer) {
      const of = (text: string, bytes: number | undefined, kept: number | undefined): OutputText => ({
        text,
        bytes: bytes ?? Buffer.byteLength(text),
        truncated: (bytes ?? 0) > (kept ?? 0),
      });
      const sum = (one: number | undefined, other: number | undefined): number | undefined =>
        one === undefined || other === undefined ? undefined : one + other;
      return {
        stdout: of(logs.stdout.text, answer?.stdoutBytes, answer?.stdoutKept),
        stderr: of(logs.stderr.text, answer?.stderrBytes, answer?.stderrKept),
        output: of(
          logs.output.text,
          sum(answer?.stdoutBytes, answer?.stderrBytes),
          sum(answer?.stdoutKept, answer?.stderrKept),
        ),
      };
    },
  };
}
