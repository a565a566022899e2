import type { Socket } from "node:net";

/** The first line that comes; undefined when the other side ends before, is silent for too long or sends more. */
export function lineOf(socket: Socket, maxBytes: number, silenceMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (line: string | undefined): void => {
      socket.setTimeout(0);
      socket.off("data", onData);
      resolve(line);
    };
    const onData = (chunk: Buffer): void => {
      const end = chunk.indexOf(10);
      chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
      length += chunk.length;
      if (end >= 0) finish(Buffer.concat(chunks).toString("utf8"));
      else if (length > maxBytes) finish(undefined);
    };
    socket.on("data", onData);
    socket.once("close", () => finish(undefined));
    socket.setTimeout(silenceMs, () => finish(undefined));
  });
}
