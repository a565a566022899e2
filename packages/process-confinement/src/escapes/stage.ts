import { createHash, randomBytes } from "node:crypto";
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EscapeTerms } from "./escape-terms.js";
import { type Listeners, openListeners } from "./listeners.js";
import { startVictim, type Victim } from "./victim.js";

/** Whether a run is the one in the wrap, or the control without it. */
export type Side = "confined" | "control";

/** Everything that attempts go for, made for one run of the kit and gone with it: canaries, listeners, a victim, folders. */
export interface Stage extends AsyncDisposable {
  readonly listeners: Listeners;
  readonly victim: Victim;
  /** Occurs in the command lines of the victim and of what attempts leave behind, and nowhere else on this machine. */
  readonly token: string;
  /** SHA-256 of what every secret of the stage holds. */
  readonly canarySha256: string;
  /** An open descriptor of the secret, to be inherited. */
  readonly secretDescriptor: number;
  readonly program: string;
  context(side: Side): string;
  workspace(side: Side): string;
  tree(side: Side): string;
  /** Makes the workspace and the tree of a side anew. */
  reset(side: Side): void;
  /** Whether this process reads the secret now, and it is the canary. */
  hostReads(): boolean;
}

/** The program, as it lies beside `src` and beside `dist`. */
const shipped = fileURLToPath(new URL("../../python/escapes/", import.meta.url));
/** How long an attempt stays with what it must not have, where a limit may be watched. Nothing watches the control. */
const holdSeconds = { confined: 5, control: 0 } as const;

export async function openStage(terms: EscapeTerms): Promise<Stage> {
  const root = mkdtempSync(join(tmpdir(), "berth-escapes-"));
  const place = (...names: readonly string[]): string => join(root, ...names);
  const [token, canary] = [randomBytes(12).toString("hex"), randomBytes(32).toString("hex")];
  const secret = place("host", "secret");
  const other = place("other-owner", "data");
  for (const folder of ["host", "other-owner", "contexts"]) mkdirSync(place(folder));
  for (const path of [secret, other]) writeFileSync(path, canary);
  cpSync(shipped, place("program"), { recursive: true });
  // Its own, since another run of the kit may be at the same time.
  const environName = `BERTH_ESCAPE_${token}`;
  const socketPath = place("host", "socket");
  // As long as it can be: the libuv of Node 20 fills a shorter one up with NULs, which are part of the name.
  const abstractName = `berth-escapes-${token}`.padEnd(107, "-");
  const listeners = await openListeners(abstractName, socketPath);
  const victim = await startVictim({
    python: terms.python,
    program: place("program", "victim.py"),
    token,
    secret,
    canary,
    environName,
  });
  const secretDescriptor = openSync(secret, "r");
  const canarySha256 = sha256Of(canary);
  const known = {
    ...{ secret, other, token, canarySha256, socketPath, abstractName, environName },
    ...{ tcpPort: listeners.tcpPort, udpPort: listeners.udpPort, victim: victim.place, limits: terms.limits },
  };
  const workspace = (side: Side): string => place(`${side}-workspace`);
  const tree = (side: Side): string => place(`${side}-tree`);
  const reset = (side: Side): void => {
    for (const folder of [workspace(side), tree(side)]) remake(folder);
    rmSync(`${tree(side)}-moved`, { recursive: true, force: true });
    writeFileSync(join(tree(side), "measured"), "as it was measured");
    const context = { ...known, workspace: workspace(side), tree: tree(side), holdSeconds: holdSeconds[side] };
    writeFileSync(place("program", `${side}.json`), JSON.stringify(context));
  };
  return {
    ...{ listeners, victim, token, canarySha256, secretDescriptor, program: place("program"), workspace, tree, reset },
    context: (side) => place("program", `${side}.json`),
    hostReads: () => sha256Of(readFileSync(secret)) === canarySha256,
    async [Symbol.asyncDispose]() {
      closeSync(secretDescriptor);
      await victim[Symbol.asyncDispose]();
      await listeners[Symbol.asyncDispose]();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function remake(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
}

function sha256Of(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
