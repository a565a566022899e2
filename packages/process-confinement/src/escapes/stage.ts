import { createHash, randomBytes } from "node:crypto";
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { boundOf, type EscapeTerms } from "./escape-terms.js";
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

/** @throws {ConfinementError} `INTERPRETER_NOT_FOUND`. Also the signal's reason. Nothing is left then. */
export async function openStage(terms: EscapeTerms): Promise<Stage> {
  const undo: Undo = [];
  try {
    return await setUp(terms, undo);
  } catch (error) {
    await undoAll(undo);
    terms.signal?.throwIfAborted();
    throw error;
  }
}

/** What takes back each step that was taken. */
type Undo = (() => unknown)[];

async function undoAll(undo: Undo): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step();
}

async function setUp(terms: EscapeTerms, undo: Undo): Promise<Stage> {
  const root = mkdtempSync(join(tmpdir(), "berth-escapes-"));
  undo.push(() => rmSync(root, { recursive: true, force: true }));
  const program = join(root, "program");
  cpSync(shipped, program, { recursive: true });
  const { listeners, victim, canarySha256, known } = await setUpTargets(root, terms, undo);
  const secretDescriptor = openSync(known.secret, "r");
  undo.push(() => closeSync(secretDescriptor));
  const workspace = (side: Side): string => join(root, `${side}-workspace`);
  const tree = (side: Side): string => join(root, `${side}-tree`);
  const context = (side: Side): string => join(program, `${side}.json`);
  return {
    ...{ listeners, victim, token: known.token, canarySha256, secretDescriptor, program, workspace, tree, context },
    reset: (side) => {
      for (const folder of [workspace(side), tree(side)]) remake(folder);
      rmSync(`${tree(side)}-moved`, { recursive: true, force: true });
      writeFileSync(join(tree(side), "measured"), "as it was measured");
      const places = { workspace: workspace(side), tree: tree(side), holdSeconds: holdSeconds[side] };
      writeFileSync(context(side), JSON.stringify({ ...known, ...places, limits: terms.limits }));
    },
    hostReads: () => sha256Of(readFileSync(known.secret)) === canarySha256,
    [Symbol.asyncDispose]: () => undoAll(undo),
  };
}

interface Targets {
  readonly listeners: Listeners;
  readonly victim: Victim;
  readonly canarySha256: string;
  /** What the attempts are told; plain data. */
  readonly known: { readonly secret: string; readonly token: string };
}

/** The canaries, and who holds them. Names are of this run alone, since another run of the kit may be at the same time. */
async function setUpTargets(root: string, terms: EscapeTerms, undo: Undo): Promise<Targets> {
  const [token, canary] = [randomBytes(12).toString("hex"), randomBytes(32).toString("hex")];
  const [secret, other] = [join(root, "host", "secret"), join(root, "other-owner", "data")];
  for (const path of [secret, other]) {
    mkdirSync(dirname(path));
    writeFileSync(path, canary);
  }
  const environName = `BERTH_ESCAPE_${token}`;
  const socketPath = join(root, "host", "socket");
  // As long as it can be: the libuv of Node 20 fills a shorter one up with NULs, which are part of the name.
  const abstractName = `berth-escapes-${token}`.padEnd(107, "-");
  const listeners = await openListeners(abstractName, socketPath);
  undo.push(() => listeners[Symbol.asyncDispose]());
  const program = join(root, "program", "victim.py");
  const { python } = terms;
  const victim = await startVictim({ python, program, token, secret, canary, environName, bound: boundOf(terms) });
  undo.push(() => victim[Symbol.asyncDispose]());
  const canarySha256 = sha256Of(canary);
  const known = {
    ...{ secret, other, token, canarySha256, socketPath, abstractName, environName },
    ...{ tcpPort: listeners.tcpPort, udpPort: listeners.udpPort, victim: victim.place },
  };
  return { listeners, victim, canarySha256, known };
}

function remake(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
}

function sha256Of(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
