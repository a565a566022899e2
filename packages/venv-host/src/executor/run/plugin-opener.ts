import { errorText } from "../error-text.js";
import { PluginHostError } from "../errors.js";
import type { PluginEntry } from "../plugin-config.js";
import type { Scheduler } from "../plugin-host.js";
import type { PluginKind, RunningPlugin } from "../plugin-kind.js";
import { linkAbort, untilAborted } from "../until-aborted.js";

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** What an opener is made of. */
export interface PluginOpenerOptions {
  readonly entry: PluginEntry;
  readonly kind: PluginKind;
  readonly openTimeoutMs: number;
  readonly scheduler: Scheduler;
  /** Ends an opening that is under way, and forbids others. */
  readonly ending: AbortSignal;
  readonly onProgress: (step: string) => void;
  readonly onLog: (line: string) => void;
}

/** Opens at most once at a time, and not again at once after a failure. */
export interface PluginOpener {
  readonly running: RunningPlugin | undefined;
  readonly fault: PluginHostError | undefined;
  open(): Promise<RunningPlugin>;
  close(): Promise<void>;
}

export function createPluginOpener(options: PluginOpenerOptions): PluginOpener {
  const { scheduler, ending } = options;
  let running: RunningPlugin | undefined;
  let opening: Promise<RunningPlugin> | undefined;
  let fault: PluginHostError | undefined;
  let retryMs = FIRST_RETRY_MS;
  let retryAt = Number.NEGATIVE_INFINITY;
  const open = async (): Promise<RunningPlugin> => {
    try {
      running = await openInTime(options);
      fault = undefined;
      retryMs = FIRST_RETRY_MS;
      return running;
    } catch (error) {
      fault = openFault(options.entry.name, error);
      retryAt = scheduler.now() + retryMs;
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
      throw fault;
    } finally {
      opening = undefined;
    }
  };
  return {
    get running() {
      return running;
    },
    get fault() {
      return fault;
    },
    open: async () => {
      ending.throwIfAborted();
      if (running !== undefined) return running;
      if (opening === undefined && fault !== undefined && scheduler.now() < retryAt) throw fault;
      opening ??= open();
      return opening;
    },
    close: async () => {
      await opening?.catch(() => undefined); // it was told to end, and closes what it still opens
      await running?.close();
    },
  };
}

async function openInTime(options: PluginOpenerOptions): Promise<RunningPlugin> {
  const { entry, kind, openTimeoutMs, scheduler, ending, onProgress, onLog } = options;
  const linked = linkAbort([ending]);
  const timer = scheduler.after(openTimeoutMs, () => {
    linked.abort(new PluginHostError("PLUGIN_TIMEOUT", `it was not ready after ${openTimeoutMs} ms`));
  });
  const opened = (async () => kind.open(entry, { signal: linked.signal, onProgress, onLog }))();
  try {
    return await untilAborted(opened, linked.signal);
  } catch (error) {
    if (linked.signal.aborted) opened.then((late) => late.close()).catch(() => undefined); // nobody waits for it any more
    throw error;
  } finally {
    timer.cancel();
    linked.release();
  }
}

function openFault(name: string, error: unknown): PluginHostError {
  const isTimeout = error instanceof PluginHostError && error.code === "PLUGIN_TIMEOUT";
  const code = isTimeout ? "PLUGIN_TIMEOUT" : "PLUGIN_FAILED";
  return new PluginHostError(code, `plugin ${name} could not be made ready: ${errorText(error)}`, { cause: error });
}
