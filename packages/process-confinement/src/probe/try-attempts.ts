import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import type { EnforcementFinding } from "../enforcement.js";
import type { ConfinementHost } from "../start/host.js";
import { type AttemptsOptions, type AttemptsReport, attemptsProgram } from "./attempts.js";
import { plantCanaries } from "./canaries.js";
import { fails, holds, setUpInVain } from "./finding.js";
import { judgeAttempts } from "./judge-attempts.js";
import { readAttempts } from "./read-attempts.js";
import { scratchFolder } from "./scratch.js";
import { trialEnvironment, tryInside } from "./try-inside.js";
import { whenAllEnded } from "./when-all-ended.js";

/** More than Node itself needs, and less than every machine allows. */
const limits = { openFiles: 64, fileBytes: 65_536 } as const;
const beyond = { maxFiles: 100, maxBytes: 100_000 } as const;
const workspace = { kind: "memory", maxBytes: 2 ** 20 } as const;
const controlMs = 5_000;

/** Makes the attempts inside and outside at the same time. Throws what `openSandbox` throws. */
export async function tryAttempts(
  host: ConfinementHost,
  name: string,
  signal: AbortSignal | undefined,
): Promise<readonly EnforcementFinding[]> {
  await using canaries = await plantCanaries();
  const asked = (ownFolder: string): readonly string[] => {
    const options: AttemptsOptions = { ...canaries.places, ...beyond, ownFolder };
    return ["-e", attemptsProgram, JSON.stringify(options)];
  };
  const readOnly = [{ source: canaries.places.readOnlyFolder }];
  const [trial, outside] = await whenAllEnded([
    tryInside(
      host,
      { name, file: process.execPath, args: asked("/workspace"), policy: { workspace, readOnly, limits } },
      signal,
    ),
    runOutside(asked, signal),
  ]);
  const inside = readAttempts(trial.stdout);
  if (outside === undefined) return [silent("outside", "")];
  if (inside === undefined) return [silent("inside", trial.stderr)];
  const accepted = canaries.accepted();
  const judged = judgeAttempts({ inside, outside, accepted, secretHash: canaries.secretHash });
  return [...judged, judgeLimit("openFiles", inside, outside), judgeLimit("fileBytes", inside, outside)];
}

function judgeLimit(
  limit: keyof typeof limits,
  { [limit]: inside }: AttemptsReport,
  { [limit]: outside }: AttemptsReport,
): EnforcementFinding {
  const seen = `with a bound of ${limits[limit]}, ${inside} were had inside and ${outside} outside`;
  const isHeld = inside === limits[limit] && outside > inside;
  return isHeld ? holds(limit, "rlimit", seen) : fails(limit, seen, setUpInVain);
}

function silent(where: "inside" | "outside", words: string): EnforcementFinding {
  return fails("own-write", `the attempts told nothing ${where}: ${words.slice(0, 200) || "no word"}`, {
    cause: `${process.execPath} does not run to its end ${where}, or the machine is too busy for it`,
    cure: "use a Node whose file and libraries every program of this user can read; try again on a quiet machine",
  });
}

/** The same program without a sandbox, as the control of each attempt; in a folder of its own. */
async function runOutside(
  asked: (ownFolder: string) => readonly string[],
  signal: AbortSignal | undefined,
): Promise<AttemptsReport | undefined> {
  signal?.throwIfAborted();
  const folder = scratchFolder(tmpdir(), "control");
  try {
    const child = spawn(process.execPath, asked(folder), {
      env: trialEnvironment,
      stdio: ["ignore", "pipe", "ignore"],
      timeout: controlMs,
      killSignal: "SIGKILL",
    });
    const onAbort = (): void => void child.kill("SIGKILL");
    signal?.addEventListener("abort", onAbort);
    let told = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      told += text;
    });
    await new Promise((resolve) => child.once("close", resolve).once("error", resolve));
    signal?.removeEventListener("abort", onAbort);
    return readAttempts(told);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
