import type { Readable } from "node:stream";
import { createGate } from "../waits/gate.js";

/** Process 1 of the sandbox. */
export interface ToldInit {
  /** As this machine numbers it. */
  readonly pid: number;
  /** Inode of its pid namespace. */
  readonly pidNamespace: number;
}

/** What bubblewrap tells about the sandbox on its status descriptor. */
export interface StatusStream {
  /** Undefined when bubblewrap ended before it was made. */
  readonly init: Promise<ToldInit | undefined>;
  /** As `init`, for one who cannot wait. */
  initNow(): ToldInit | undefined;
  /** Exit status of the command, 128 and the signal's number for one that was killed; undefined when it never ran. */
  readonly exitCode: Promise<number | undefined>;
}

/** Far more than bubblewrap writes. */
const maxStatusLength = 65_536;

/** Reads the stream to its end. The documents come in several writes each: a member counts once its document is whole. */
export function readStatus(stream: Readable): StatusStream {
  const init = createGate<ToldInit | undefined>();
  const exitCode = createGate<number | undefined>();
  let text = "";
  const look = (): void => {
    const documents = text.slice(0, text.lastIndexOf("}") + 1);
    const told = initIn(documents);
    const code = memberOf(documents, "exit-code");
    if (told !== undefined) init.open(told);
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
  return {
    init: init.passed,
    initNow: () => initIn(text),
    exitCode: exitCode.passed,
  };
}

function initIn(documents: string): ToldInit | undefined {
  const pid = memberOf(documents, "child-pid");
  const pidNamespace = memberOf(documents, "pid-namespace");
  return pid === undefined || pidNamespace === undefined ? undefined : { pid, pidNamespace };
}

function memberOf(documents: string, name: string): number | undefined {
  const digits = new RegExp(`"${name}": *(\\d+)`).exec(documents)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
