import type { OutputEvent } from "@berth/code-sessions";
import { eventBody } from "./to-wire.js";
import type { StreamEventBody } from "./wire.js";

/** How a client wants to hear of running code. */
export type StreamForm = "sse" | "ndjson";

/** Undefined when it wants one JSON answer. */
export function wantedStream(accept: string | null): StreamForm | undefined {
  if (accept === null) return undefined;
  const types = accept
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";")[0]?.trim());
  if (types.includes("text/event-stream")) return "sse";
  return types.includes("application/x-ndjson") ? "ndjson" : undefined;
}

/** An answer that grows with the output of running code. */
export interface OutputStream {
  readonly response: Response;
  onOutput(event: OutputEvent): void;
  /** Output that was left out, since the client did not read. */
  readonly dropped: number;
  /** The last event. */
  end(event: StreamEventBody): void;
}

/** A client that goes away ends nothing: code that runs is under way, and its outcome is there for who asks again with the same key. */
export function openOutputStream(form: StreamForm, maxUnreadBytes: number): OutputStream {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let dropped = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      start(opened) {
        controller = opened;
      },
      cancel() {
        controller = undefined;
      },
    },
    { highWaterMark: maxUnreadBytes, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  const encode = (event: StreamEventBody): Uint8Array => {
    const line = JSON.stringify(event);
    return encoder.encode(form === "sse" ? `event: ${event.kind}\ndata: ${line}\n\n` : `${line}\n`);
  };
  const type = form === "sse" ? "text/event-stream" : "application/x-ndjson";
  const headers = { "content-type": type, "cache-control": "no-store", "x-accel-buffering": "no" };
  return {
    response: new Response(body, { status: 200, headers }),
    onOutput(event) {
      if (controller === undefined) return;
      const chunk = encode(eventBody(event));
      if ((controller.desiredSize ?? 0) >= chunk.byteLength) controller.enqueue(chunk);
      else dropped += 1;
    },
    get dropped() {
      return dropped;
    },
    end(event) {
      controller?.enqueue(encode(event));
      controller?.close();
      controller = undefined;
    },
  };
}
