import { type Edit, type Span, wireErrors } from "@berth/jsonrpc-framing";
import { isRelayError } from "../errors.js";
import type {
  CallInterception,
  InterceptedCall,
  InterceptionRefusal,
  InterceptionWait,
  Interceptor,
  ResultVerdict,
} from "../interception.js";
import { type RewritableObject, readRewritable } from "../json-rewrite.js";
import type { RelayNotice } from "../relay-options.js";
import type { RelayTerms } from "../relay-terms.js";
import { encodeText, replacing } from "../translate.js";
import type { ServerAnswer } from "../upstream/pending.js";
import { notServed, RelayFault, relayErrors, upstreamGone } from "../wire-errors.js";
import type { ClientCall } from "./open-calls.js";

/** The session's interceptor, with the time and memory that it may take. */
export interface Intercepting {
  /** Undefined when the call is not looked into. Throws what refuses it. */
  begin(call: InterceptedCall): CallInterception | undefined;
  /** Asks about a request. */
  before(call: ClientCall, subject: InterceptedCall, interception: CallInterception): Promise<ChangedRequest>;
  /** Asks about a result. */
  after(call: ClientCall, server: string, after: AskAfter, answer: ServerAnswer): Promise<ChangedResult>;
  /** Ends all waits. */
  close(): void;
}

export type AskAfter = NonNullable<CallInterception["after"]>;

/** What became of a request. */
export interface ChangedRequest {
  /** Another than was asked for. */
  readonly name?: string | undefined;
  /** Of the arguments; none when they stay. */
  readonly edits: readonly Edit[];
}

/** What became of a result: undefined when it stays. */
export type ChangedResult = Edit | undefined;

/** What it needs. */
export interface InterceptingOptions {
  readonly interceptor: Interceptor;
  readonly terms: RelayTerms;
  /** More answers wait than may be held, or no longer. */
  onHeld(tooMuch: boolean): void;
  onNotice(notice: RelayNotice): void;
}

/** Nothing is asked yet. */
export function createIntercepting({ interceptor, terms, onHeld, onNotice }: InterceptingOptions): Intercepting {
  const { scheduler, limits } = terms;
  const waiting = new Set<Waiting>();
  let heldBytes = 0;

  const hold = (bytes: number): void => {
    const before = heldBytes;
    heldBytes += bytes;
    const limit = limits.maxHeldBytes;
    if (before <= limit && heldBytes > limit) onHeld(true);
    else if (before > limit && heldBytes <= limit) onHeld(false);
  };
  /** Whatever the host's function does: it is waited for until it answers, the call is done or its time is over. */
  const ask = async <T>(call: ClientCall, server: string, work: (wait: InterceptionWait) => Promise<T>): Promise<T> => {
    const abort = new AbortController();
    const one: Waiting = { abort, server };
    const timer = scheduler.after(limits.interceptMs, () => abort.abort(tooLate(server, limits.interceptMs)));
    waiting.add(one);
    call.onAbort = (reason) => abort.abort(reason);
    try {
      return await untilAborted(work, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) throw abort.signal.reason;
      onNotice({
        code: "INTERCEPTION_FAILED",
        server,
        message: error instanceof Error ? error.message : String(error),
      });
      throw failed(server, "what looks into calls has failed");
    } finally {
      timer.cancel();
      waiting.delete(one);
      call.onAbort = undefined;
    }
  };

  return {
    begin(call) {
      try {
        return interceptor.begin(call);
      } catch (error) {
        onNotice({ code: "INTERCEPTION_FAILED", server: call.server, message: String(error) });
        throw failed(call.server, "what looks into calls has failed");
      }
    },
    async before(call, { server, method, name }, interception) {
      if (interception.before === undefined) return { edits: [] };
      const { before } = interception;
      const span = method === "resources/read" ? undefined : argumentsSpan(call);
      const given = span === undefined ? nothing : readArguments(call.frame, span);
      const verdict = await ask(call, server, (wait) => before({ name, arguments: given.value }, wait));
      if (verdict.kind === "refuse") throw refused(server, verdict);
      if (verdict.kind === "pass") return { edits: [] };
      const changed = method === "resources/read" ? undefined : verdict.arguments;
      return {
        name: verdict.name === name ? undefined : verdict.name,
        edits: changed === undefined ? [] : [argumentsEdit(call, span, given.rewrite(changed))],
      };
    },
    async after(call, server, after, { frame, envelope: { result } }) {
      if (result === undefined) return undefined;
      const given = readResult(server, frame.subarray(result.start, result.end));
      hold(frame.length);
      try {
        const verdict: ResultVerdict = await ask(call, server, (wait) => after(given.value, wait));
        if (verdict.kind === "refuse") throw refused(server, verdict);
        return verdict.kind === "pass" ? undefined : replacing(result, encodeText(given.rewrite(verdict.result)));
      } finally {
        hold(-frame.length);
      }
    },
    close() {
      for (const { abort, server } of waiting) abort.abort(upstreamGone(server, "SESSION_CLOSED"));
    },
  };
}

interface Waiting {
  readonly abort: AbortController;
  readonly server: string;
}

const nothing: RewritableObject = { value: {}, rewrite: (changed) => JSON.stringify(changed) };

function untilAborted<T>(work: (wait: InterceptionWait) => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    // In a function of its own, so that one which throws at once is told as one that rejects.
    (async () => work({ signal }))().then(resolve, reject);
  });
}

function argumentsSpan({ envelope: { members } }: ClientCall): Span | undefined {
  return members?.get("arguments");
}

/** In place of the ones that were there, or as the first member of `params`, which has a name at least. */
function argumentsEdit({ envelope: { params } }: ClientCall, span: Span | undefined, text: string): Edit {
  if (span !== undefined) return replacing(span, encodeText(text));
  const start = (params?.start ?? 0) + 1;
  return { start, end: start, bytes: encodeText(`"arguments":${text},`) };
}

function readArguments(frame: Uint8Array, { start, end }: Span): RewritableObject {
  try {
    const read = readRewritable(frame.subarray(start, end));
    if (read !== undefined) return read;
  } catch (error) {
    if (!isRelayError(error)) throw error;
    throw badArguments(error.message);
  }
  throw badArguments("no object");
}

function badArguments(why: string): RelayFault {
  return notServed(wireErrors.invalidParams, "PARAMS_INVALID", `the arguments cannot be looked into: ${why}`);
}

function readResult(server: string, bytes: Uint8Array): RewritableObject {
  try {
    const read = readRewritable(bytes);
    if (read !== undefined) return read;
  } catch (error) {
    if (!isRelayError(error)) throw error;
    throw failed(server, `the result of server ${JSON.stringify(server)} cannot be looked into: ${error.message}`);
  }
  throw failed(server, `the result of server ${JSON.stringify(server)} cannot be looked into: no object`);
}

function refused(
  server: string,
  { code = relayErrors.denied, reason, message, data }: InterceptionRefusal,
): RelayFault {
  const { reason: _, server: __, ...more } = { ...data };
  return new RelayFault({ code, reason, server, problem: message, data: more });
}

function failed(server: string, problem: string): RelayFault {
  return new RelayFault({ code: relayErrors.denied, reason: "INTERCEPTION_FAILED", server, problem });
}

function tooLate(server: string, ms: number): RelayFault {
  const problem = `the call was not judged within ${ms} ms`;
  return new RelayFault({ code: relayErrors.denied, reason: "INTERCEPTION_TIMEOUT", server, problem });
}
