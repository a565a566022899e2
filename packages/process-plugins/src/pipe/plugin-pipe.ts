import type { Readable, Writable } from "node:stream";
import {
  type Envelope,
  type Frame,
  type FramingError,
  isFramingError,
  type Scheduler,
  wireErrors,
} from "@berth/jsonrpc-framing";
import { createStreamTransport, isStdioTransportError } from "@berth/stdio-transport";
import type { ProcessPluginError } from "../errors.js";
import { type CallEnd, createCallTable } from "./call-table.js";
import { excerptOf } from "./escape-text.js";
import { createFloodBrake } from "./flood-brake.js";
import { pluginFault } from "./plugin-fault.js";
import { type FrameFault, faultWords, type PluginFrame, readPluginFrame } from "./plugin-frame.js";

/** One request to the plugin. */
export interface PipeCall {
  readonly method: string;
  /** Its bytes with this id. */
  readonly frame: (id: number) => Uint8Array;
  /** Undefined: it waits as long as the plugin lives. */
  readonly timeoutMs: number | undefined;
  /** One more than `maxCalls` is sent all the same: the host's own, without which a busy plugin could not be ended. */
  readonly isOwn?: boolean | undefined;
  /** Called once, in the order of the stream. */
  readonly onEnd: (end: CallEnd, id: number) => void;
}

/** Who is told what the plugin writes, in the order of the stream. */
export interface PipeReceiver {
  /** The bytes are valid until it returns. */
  onNotification(method: string, bytes: Uint8Array, envelope: Envelope): void;
  /** It answered that it failed. The text is the plugin's, and no caller has to see it. */
  onFailure?(method: string, message: string): void;
  /** It wrote what is no answer; nothing more of it is read. */
  onFault(error: ProcessPluginError): void;
  /** It ended its output, or takes no more input. What was written before is still read. */
  onSilence(words: string): void;
}

/** Both halves over the two streams of one process. */
export interface PluginPipe {
  /**
   * Sends it; the id is for `cancel`. `sent` resolves when the system has taken it, or it has ended; it never rejects.
   * @throws {ProcessPluginError} `TOO_MANY_CALLS`, the error that `end` was given. Nothing was sent.
   */
  call(call: PipeCall): { readonly id: number; readonly sent: Promise<void> };
  /** Gives a call up and tells the plugin; its late answer is passed over. False where it has ended. */
  cancel(id: number): boolean;
  /** Resolves when the system has taken it. Rejects where it was not sent. */
  notify(frame: Uint8Array): Promise<void>;
  /** The process has ended: what it wrote is read without any brake. */
  readOn(): void;
  /** Fails what waits, and all later calls. Nothing more is read. */
  end(cause: ProcessPluginError): void;
  /** Answers of calls that were given up. */
  readonly lateAnswers: number;
}

/** What bounds a pipe. */
export interface PipeOptions {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly plugin: string;
  readonly maxMessageBytes: number;
  readonly maxCalls: number;
  readonly scheduler: Scheduler;
}

/** What waits for a plugin that does not read: some large messages, or many small ones. */
const leastQueuedBytes = 1_048_576;

/** One state machine over the events of two streams, hence its length. */
export function createPluginPipe(options: PipeOptions, receiver: PipeReceiver): PluginPipe {
  const { plugin, maxMessageBytes, maxCalls } = options;
  const table = createCallTable(options.scheduler);
  const transport = createStreamTransport({
    readable: options.stdout,
    writable: options.stdin,
    maxFrameBytes: maxMessageBytes,
    maxQueuedBytes: Math.max(2 * maxMessageBytes, leastQueuedBytes),
    oversize: "fail",
  });
  const brake = createFloodBrake({
    pause: () => transport.pause(),
    resume: () => transport.resume(),
    scheduler: options.scheduler,
  });
  let ended: ProcessPluginError | undefined;
  let lateAnswers = 0;

  const end = (cause: ProcessPluginError): void => {
    if (ended !== undefined) return;
    ended = cause;
    brake.release();
    void transport.close();
    table.failAll(cause);
  };
  const fail = (
    { fault, at }: Pick<FrameFault, "fault" | "at">,
    offset: number,
    bytes: Uint8Array | undefined,
  ): void => {
    if (ended !== undefined) return;
    const excerpt = bytes && excerptOf(bytes);
    const place = `at byte ${offset + at} of its output`;
    const error = pluginFault(plugin, "PLUGIN_PROTOCOL", `wrote ${fault}, ${place}`, { excerpt });
    end(error);
    receiver.onFault(error);
  };
  const onFrame = ({ bytes, offset }: Frame): void => {
    const frame = readPluginFrame(bytes);
    if (frame.kind === "fault") fail(frame, offset, bytes);
    else if (frame.kind === "answer") deliver(frame, offset, bytes);
    else {
      brake.count();
      receiver.onNotification(frame.method, bytes, frame.envelope);
    }
  };
  const deliver = (
    { id, envelope, error }: Extract<PluginFrame, { kind: "answer" }>,
    offset: number,
    bytes: Uint8Array,
  ): void => {
    const method = table.methodOf(id);
    if (method !== undefined && error?.code === wireErrors.internal) receiver.onFailure?.(method, error.message);
    const delivery = table.answer(id, bytes, envelope);
    if (delivery === "late") lateAnswers += 1;
    if (delivery === "foreign") fail({ fault: foreign, at: envelope.id?.start ?? 0 }, offset, bytes);
  };
  const onFault = (fault: FramingError, frame?: Frame): void => {
    // A plugin that dies while it writes broke nothing: that its stream has ended is told next.
    if (fault.code === "STREAM_TRUNCATED") return;
    const offset = fault.offset ?? frame?.offset ?? 0;
    const words = fault.code === "FRAME_TOO_LARGE" ? `a line of more than ${maxMessageBytes} bytes` : undefined;
    fail({ fault: words ?? faultWords(fault.code, fault.message), at: 0 }, offset, frame?.bytes);
  };
  const onSendFailed = (id: number | undefined, error: unknown): void => {
    if (isStdioTransportError(error) && error.code === "TRANSPORT_CLOSED") {
      if (ended === undefined) receiver.onSilence("takes no more input");
      return; // the call ends with the plugin, which may have answered it already
    }
    if (id !== undefined) table.giveUp(id, { kind: "failed", cause: refusalOf(error, plugin) });
  };
  const call = (asked: PipeCall): { readonly id: number; readonly sent: Promise<void> } => {
    if (ended !== undefined) throw ended;
    if (asked.isOwn !== true && table.size >= maxCalls) {
      throw pluginFault(plugin, "TOO_MANY_CALLS", `has ${maxCalls} requests under way`);
    }
    const unsent = new AbortController();
    const id = table.add({ method: asked.method, unsent, onEnd: asked.onEnd }, asked.timeoutMs, onTimeout);
    const sent = transport.send(asked.frame(id), { signal: unsent.signal }).catch((error: unknown) => {
      if (!unsent.signal.aborted) onSendFailed(id, error);
    });
    return { id, sent };
  };
  const giveUp = (id: number, kind: "timeout" | "cancelled"): boolean => {
    if (!table.giveUp(id, { kind })) return false;
    transport.send(cancelled(id)).catch((error: unknown) => onSendFailed(undefined, error));
    return true;
  };
  const onTimeout = (id: number): void => void giveUp(id, "timeout");

  transport.start({
    onFrame,
    onFault,
    onClose: () => {
      if (ended === undefined) receiver.onSilence("ended its output");
    },
  });
  return {
    call,
    cancel: (id) => giveUp(id, "cancelled"),
    notify: async (frame) => {
      if (ended !== undefined) throw ended;
      await transport.send(frame).catch((error: unknown) => {
        onSendFailed(undefined, error);
        throw refusalOf(error, plugin);
      });
    },
    readOn: brake.release,
    end,
    get lateAnswers() {
      return lateAnswers;
    },
  };
}

const foreign = "an answer to an id that was never used or is answered already";

function cancelled(id: number): Uint8Array {
  return Buffer.from(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`);
}

/** Why a frame was not sent. */
function refusalOf(error: unknown, plugin: string): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (!isStdioTransportError(error) && !isFramingError(error)) return error;
  const { code, message } = error;
  if (code === "QUEUE_FULL")
    return pluginFault(plugin, "TOO_MANY_CALLS", "does not read what is sent", { cause: error });
  if (code === "TRANSPORT_CLOSED") return pluginFault(plugin, "PLUGIN_EXITED", "takes no more input", { cause: error });
  return pluginFault(plugin, "REQUEST_INVALID", `gets nothing: ${message}`, { cause: error });
}
