import { createLineDecoder, isFramingError } from "@berth/jsonrpc-framing";
import type { PluginProcess } from "../../confine/plugin-process.js";

/** Who is told of the lines of a plugin. */
export interface LineReceiver {
  onLine(bytes: Uint8Array): void;
  /** No line can be found any more. `raw` stands for what came. */
  onBroken(what: string, raw: string): void;
}

/** How long output may be held open after the end of the process. */
const heldOutputMs = 1_000;

/** Reads lines of a plugin. Resolves at the end of its output, or a little after its own: what it left behind may hold the pipe. */
export async function readFrames(
  { stdout, exited }: Pick<PluginProcess, "stdout" | "exited">,
  maxFrameBytes: number,
  receiver: LineReceiver,
): Promise<void> {
  const decoder = createLineDecoder({ maxFrameBytes });
  let isBroken = false; // what comes then is read and dropped, so that the end of the stream is seen
  const take = (step: () => readonly { readonly bytes: Uint8Array }[]): void => {
    if (isBroken) return;
    try {
      for (const { bytes } of step()) receiver.onLine(bytes);
    } catch (error) {
      if (!isFramingError(error)) throw error;
      isBroken = true;
      for (const { bytes } of error.frames) receiver.onLine(bytes);
      if (error.code === "FRAME_TOO_LARGE") receiver.onBroken(`a line of more than ${maxFrameBytes} bytes`, "…");
      else receiver.onBroken("a part of a line, and no more", "");
    }
  };
  const onData = (chunk: Buffer): void => take(() => decoder.push(chunk));
  const ended = new Promise<void>((resolve) => {
    stdout.on("data", onData);
    stdout
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
  });
  let timer: NodeJS.Timeout | undefined;
  const held = exited.then(
    () =>
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, heldOutputMs);
      }),
  );
  await Promise.race([ended, held]);
  clearTimeout(timer);
  stdout.off("data", onData);
  take(() => decoder.end());
}
