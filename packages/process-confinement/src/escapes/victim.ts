import { spawn } from "node:child_process";
import { once } from "node:events";
import { ConfinementError } from "../errors.js";
import { createLines } from "./lines.js";

/** A process of the host that the attempts go for. */
export interface Victim extends AsyncDisposable {
  /** Where its canary is; plain data for the attempts. */
  readonly place: Readonly<Record<string, number>>;
  /** How often it was signalled. */
  signals(): number;
}

export interface VictimOptions {
  readonly python: string;
  readonly program: string;
  readonly token: string;
  readonly secret: string;
  readonly canary: string;
  /** The variable that holds it. */
  readonly environName: string;
  /** Ends the wait for its first word. */
  readonly bound: AbortSignal;
}

/** @throws {ConfinementError} `INTERPRETER_NOT_FOUND` when the interpreter cannot run it, or not within the bound. */
export async function startVictim({
  python,
  program,
  token,
  secret,
  canary,
  environName,
  bound,
}: VictimOptions): Promise<Victim> {
  const env = { [environName]: canary, PATH: "/usr/bin:/bin" };
  const child = spawn(python, ["-I", program, token, secret, environName], { env, stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()).once("error", () => resolve()));
  child.stdin.on("error", () => {}); // it may be gone when we end its input
  const giveUp = (): void => void child.kill("SIGKILL");
  bound.addEventListener("abort", giveUp);
  if (bound.aborted) giveUp();
  let signals = 0;
  const place = await new Promise<Readonly<Record<string, number>> | undefined>((resolve) => {
    const lines = createLines((message) => {
      if ("signalled" in message) signals += 1;
      else resolve(numbersOf(message));
    });
    child.stdout.on("data", lines.push);
    void ended.then(() => resolve(undefined));
  });
  bound.removeEventListener("abort", giveUp);
  if (place === undefined) throw noInterpreter(`${python} could not run a program of this kit`);
  return {
    place,
    signals: () => signals,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      await ended;
    },
  };
}

/** With what to do about it. */
export function noInterpreter(message: string): ConfinementError {
  const cure = "install python3 with ctypes, or name such an interpreter by the option python";
  return new ConfinementError("INTERPRETER_NOT_FOUND", message, { field: "python", cure });
}

function numbersOf(message: object): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => typeof value === "number"));
}
