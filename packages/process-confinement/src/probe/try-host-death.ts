import { once } from "node:events";
import type { EnforcementFinding } from "../enforcement.js";
import { isAlive, type ProcessMark, signalProcess } from "../identity/process-identity.js";
import { readSandboxOptions } from "../reading/read-options.js";
import type { ConfinementHost } from "../start/host.js";
import type { Launched } from "../start/launch.js";
import { layOut } from "../start/lay-out.js";
import { letGo } from "../start/let-go.js";
import { raiseSandbox } from "../start/raise-sandbox.js";
import { refuseHere } from "../start/refuse-here.js";
import { boundStart } from "../start/start-bound.js";
import { becomesTrue } from "../waits/within.js";
import { fails, holds, setUpInVain } from "./finding.js";
import { trialEnvironment } from "./try-inside.js";

/**
 * A shell that plays the host: it starts bubblewrap as a child and waits for it, until it is killed. It lets go of the pipes, of
 * which the end is listened to.
 */
const playedHost = ["/bin/sh", "-c", '"$@" & exec 3<&- 4>&- 5<&- 6>&- 7<&- 8<&- 9<&-; wait', "sh"] as const;
const inside = "ls -l /proc/self/fd/; echo; exec sleep 30";
/** Longer than a start takes on any machine that can be worked with: a busy one is not one where nothing holds. */
const startTimeoutMs = 30_000;
/** From the host's death to the end of its sandbox. */
const deathMs = 2_000;

/** Starts a sandbox by a host that is then killed; before that, what is inside tells which descriptors it has. */
export async function tryHostDeath(
  host: ConfinementHost,
  name: string,
  signal: AbortSignal | undefined,
): Promise<readonly EnforcementFinding[]> {
  const options = { name, file: "/bin/sh", args: ["-c", inside], env: trialEnvironment, policy: {} };
  const terms = readSandboxOptions(options);
  const layout = layOut(host, refuseHere(host), terms);
  const bound = boundStart(startTimeoutMs, signal);
  try {
    // Without control groups, since no limit is asked for.
    const raised = await raiseSandbox(host, layout, { bound, before: playedHost });
    await letGo(raised, terms, bound);
    const { launched, identity } = raised;
    try {
      const listing = await bound.wait(firstParagraph(launched));
      signalProcess(launched.outer, "SIGKILL");
      return [judgeDescriptors(listing), judgeDeath(await becomesTrue(() => !isAlive(identity.init), deathMs))];
    } finally {
      await clear(launched, identity.init);
    }
  } finally {
    bound.release();
  }
}

async function firstParagraph({ stdout }: Launched): Promise<string> {
  let text = "";
  while (!text.endsWith("\n\n")) {
    const [chunk] = await once(stdout, "data");
    text += String(chunk);
  }
  return text;
}

// Also when the trial failed or the machine does not hold it: nothing of a probe stays.
async function clear(launched: Launched, init: ProcessMark): Promise<void> {
  signalProcess(init, "SIGKILL");
  signalProcess(launched.outer, "SIGKILL");
  await launched.exited;
  for (const stream of [launched.stdin, launched.stdout, launched.stderr, launched.word, launched.lifeline]) {
    stream.on("error", () => {}).destroy();
  }
}

/** Lines such as `lrwx------ 1 1000 1000 64 Nov 30 02:07 3 -> /proc/5/fd`, the last being the listing's own. */
function judgeDescriptors(listing: string): EnforcementFinding {
  const lines = listing.split("\n").filter((line) => line.includes(" -> ") && !/ -> \/proc\/\d+\/fd\/?$/.test(line));
  const numbers = lines.map((line) => Number(/ (\d+) -> /.exec(line)?.[1])).sort((one, other) => one - other);
  const seen = `inside there are the descriptors ${numbers.join(", ")}`;
  const isClean = numbers.join() === "0,1,2";
  return isClean ? holds("descriptors", "bubblewrap", seen) : fails("descriptors", seen, setUpInVain);
}

function judgeDeath(isGone: boolean): EnforcementFinding {
  if (isGone) return holds("host-death", "bubblewrap", "the sandbox ended when its host was killed");
  return fails("host-death", `the sandbox lived on ${deathMs} ms after its host was killed`, setUpInVain);
}
