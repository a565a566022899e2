import type { SandboxGate } from "@berth/process-confinement";
import type { Launch, Recheck } from "@berth/spawn-attestation";
import type { PluginProcess, PluginProcessOptions } from "./plugin-process.js";
import { type OpenSandbox, startConfined } from "./start-confined.js";

/** A sandbox that is made while it is still found out whether the plugin may run in it. */
export interface AheadStart {
  /**
   * Runs what was admitted, in the sandbox that was made ahead; in one that is made now where that could not be had, or what the plugin's
   * path leads to was replaced since. In either the folder is compared once more after it was bound, and what is bound is what was compared. Call once.
   * @throws {ProcessPluginError} as `startConfined`. Also what `recheck` throws, and the signal's reason.
   */
  letGo(launch: Launch, recheck: Recheck): Promise<PluginProcess>;
  /** Resolves when nothing of it is left, unless the plugin was let go: then it does nothing. */
  drop(): Promise<void>;
}

/** Of a start, but what was measured, which is known at its end. */
export interface AheadOptions extends Omit<PluginProcessOptions, "launch"> {
  readonly openSandbox?: OpenSandbox | undefined;
}

type Look = (gate: SandboxGate) => Promise<void>;

/** Begins to make the sandbox: nothing of the plugin runs in it before `letGo`. */
export function startAhead(options: AheadOptions): AheadStart {
  const { plugin, signal } = options;
  const expected = { file: plugin.executable, args: plugin.manifest.process.args };
  const dropped = new AbortController();
  const signals = signal === undefined ? [dropped.signal] : [dropped.signal, signal];
  let admit = (_look: Look): void => {};
  const admitted = new Promise<Look>((resolve) => {
    admit = resolve;
  });
  let isOver = false;
  const made = startConfined({
    ...options,
    launch: expected,
    signal: AbortSignal.any(signals),
    admitted: async (gate) => (await admitted)(gate),
  });
  // It took longer to measure the plugin than a start may take, or whatever it was: the next one tells, if there is one.
  const isMade = made.then(
    () => true,
    () => {
      isOver = true;
      return false;
    },
  );
  const drop = async (): Promise<void> => {
    dropped.abort(new Error("the plugin does not run"));
    await isMade;
  };
  const isExpected = ({ file, args }: Launch): boolean =>
    file === expected.file &&
    args.length === expected.args.length &&
    args.every((arg, at) => arg === expected.args[at]);
  return {
    letGo: async (launch, recheck) => {
      let refusal: { readonly error: unknown } | undefined;
      // In this order: the path leads to what is bound, and then: nothing was put there since it was measured.
      const look: Look = async (gate) => {
        gate.verifySources();
        await recheck().catch((error: unknown) => {
          refusal = { error };
          throw error;
        });
      };
      if (!isExpected(launch)) await drop();
      else if (!isOver) {
        admit(look);
        if (await isMade) return await made;
      }
      if (refusal !== undefined) throw refusal.error;
      signal?.throwIfAborted();
      return await startConfined({ ...options, launch, admitted: look });
    },
    drop,
  };
}
