import type { Readable } from "node:stream";
import { createGate } from "./gate.js";

/** What bubblewrap tells about the sandbox on its status descriptor. */
export interface StatusStream {
  /** The namespace's process 1 as this machine numbers it; undefined when bubblewrap ended before it was made. */
  readonly init: Promise<number | undefined>;
  /** As `init`, for one who cannot wait. */
  initNow(): number | undefined;
  /** Exit status of the command, 128 and the signal's number for one that was killed; undefined when it never ran. */
  readonly exitCode: Promise<number | undefined>;
}

/** Far more than bubblewrap writes. */
const maxStatusLength = 65_536;

/** Reads the stream to its end. The documents come in several writes each: a member counts once its document is whole. */
export function readStatus(stream: Readable): StatusStream {
  const init = createGate<number | undefined>();
  const exitCode = createGate<number | undefined>();
  let text = "";
  const look = (): void => {
    const documents = text.slice(0, text.lastIndexOf("}") + 1);
    const pid = memberOf(documents, "child-pid");
    const code = memberOf(documents, "exit-code");
    if (pid !== undefined) init.open(pid);
    if (code !== undefined) exitCode.open(code);
  };
  const end = (): void => {
    init.open(undefined);
    exitCode.open(undefined);
  };
  stream.on("data", (chunk: Buffer) => {
    if (text.length < maxStatusLength) text += chunk.toString("latin1");
    look();
  });
  stream.once("close", end);
  stream.on("error", end);
  return { init: init.passed, initNow: () => memberOf(text, "child-pid"), exitCode: exitCode.passed };
}

function memberOf(documents: string, name: string): number | undefined {
  const digits = new RegExp(`"${name}": *(\\d+)`).exec(documents)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
