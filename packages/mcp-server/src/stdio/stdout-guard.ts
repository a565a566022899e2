import { Writable } from "node:stream";

/** Standard output, kept for the protocol. */
export interface GuardedOutput {
  /** Writes to where `output` writes; the only way as long as the guard stands. */
  readonly writable: Writable;
  /** Gives the stream back. */
  release(): void;
}

/**
 * Sends what anybody else writes to `output` (`console.log`, `process.stdout.write`) to `elsewhere`, so that a print in a handler cannot break
 * the protocol. What goes to the file descriptor past this stream (`fs.writeSync(1)`, children that inherit it) is out of reach.
 */
export function guardOutput(output: Writable, elsewhere: () => Writable): GuardedOutput {
  const original = output.write;
  const through = original.bind(output);
  const writable = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, callback) => void through(chunk, callback),
  });
  const onError = (error: Error): void => void writable.destroy(error);
  const onClose = (): void => void writable.destroy();
  output.on("error", onError).on("close", onClose);
  writable.on("error", ignore);
  output.write = printTo(elsewhere);
  return {
    writable,
    release() {
      output.write = original;
      output.off("close", onClose);
      // The listener for errors stays: a client that is gone must not end a process that has nothing to do with it any more.
    },
  };
}

/** The stream is asked for with the first print: making standard error costs a millisecond of the start. */
function printTo(elsewhere: () => Writable): Writable["write"] {
  let opened: Writable | undefined;
  const open = (): Writable => elsewhere().on("error", ignore); // a client that does not read what is printed must not end the process
  const prints = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, encoding, callback) {
      opened ??= open();
      if (typeof chunk === "string") opened.write(chunk, encoding, callback);
      else opened.write(chunk, callback);
    },
  });
  prints.on("error", ignore);
  return prints.write.bind(prints);
}

/** For errors that are told elsewhere, or are of no consequence. */
function ignore(): void {}
