import { watchFolders } from "../disk-watch/watch-folders.js";
import { foldersToWatch } from "../disk-watch/watched-folders.js";
import type { SandboxTerms } from "../reading/sandbox-terms.js";
import type { Sandbox } from "../sandbox.js";
import type { Raised } from "../start/raise-sandbox.js";
import { type HeldSandbox, holdSandbox } from "./hold-sandbox.js";
import { createOutputMeter } from "./output-meter.js";

/** For another try at control groups that could not be removed at the end. */
const removeAgainMs = 1_000;

/** A sandbox as its caller gets it, from one whose command was let go. */
export function presentSandbox({ launched, identity, command, layout, groups }: Raised, terms: SandboxTerms): Sandbox {
  const held = holdSandbox({
    launched,
    identity,
    command,
    asPid1: terms.asPid1,
    letGo: () => void watch?.close(),
    cleanUp: async () => {
      const memoryKills = groups.memoryKills();
      const [isRemoved] = await Promise.all([groups.end(), watch?.close()]);
      return { memoryKills, isRemoved };
    },
    removeGroups: () => groups.end({ timeoutMs: removeAgainMs }),
  });
  const folders = foldersToWatch(terms.policy);
  const watch =
    folders.length === 0
      ? undefined
      : watchFolders({
          folders,
          init: identity.init.pid,
          freezer: groups.freezer,
          onExcess: () => endFor("disk", held),
        });
  const { outputBytes } = terms.policy.limits;
  const meter = outputBytes === undefined ? undefined : createOutputMeter(outputBytes, () => endFor("output", held));
  const close = (): Promise<void> => held.end("closed", terms.graceMs);
  return {
    name: identity.name,
    identity,
    stdin: launched.stdin,
    stdout: meter?.watch(launched.stdout) ?? launched.stdout,
    stderr: meter?.watch(launched.stderr) ?? launched.stderr,
    enforced: layout.limits.enforced,
    exited: held.exited,
    signal: held.signal,
    usage: groups.usage,
    close,
    kill: () => held.end("closed", 0),
    [Symbol.asyncDispose]: close,
  };
}

/** Nobody waits for this end: that it failed is told to whoever closes the sandbox. */
function endFor(reason: "output" | "disk", held: HeldSandbox): void {
  held.end(reason, 0).catch(() => {});
}
