import { ConfinementError } from "../errors.js";
import { verifySources } from "../plan/verify-binds.js";
import type { SandboxTerms } from "../reading/sandbox-terms.js";
import type { Launched } from "./launch.js";
import { endRaised, type Raised } from "./raise-sandbox.js";
import type { StartBound } from "./start-bound.js";
import { readLastWords } from "./start-failure.js";

/**
 * The second part of the host's half of the handshake: has the sandbox recorded, and gives the host's word. When this throws,
 * nothing of it is left.
 */
export async function letGo(
  raised: Raised,
  { record, handshake, file }: SandboxTerms,
  bound: StartBound,
  word = "go",
): Promise<void> {
  const { launched, identity, groups, layout } = raised;
  try {
    if (record !== undefined) {
      const verify = (): void => verifySources(layout.binds);
      await bound.wait((async () => record(identity, { verifySources: verify }))());
      verify();
    }
    bound.throwIfOver();
    releaseWatcher(launched, groups.freezer?.thawFile);
    launched.word.write(`${word}\n`);
    if (handshake !== "command") await bound.wait(whenExecuted(launched, file));
  } catch (error) {
    await endRaised(raised);
    throw error;
  }
}

/** Its work is over, unless there is something to thaw when the host is killed. */
function releaseWatcher({ lifeline }: Launched, thawFile: string | undefined): void {
  if (thawFile === undefined) lifeline.end("go\n");
  else lifeline.write(`go ${thawFile}\n`);
}

async function whenExecuted({ ready, stderr }: Launched, file: string): Promise<void> {
  const failure = await ready.failure;
  if (failure === undefined) return;
  const words = await readLastWords(stderr);
  throw new ConfinementError("SANDBOX_NOT_STARTED", `${file} could not be executed inside: ${words || failure}`);
}
