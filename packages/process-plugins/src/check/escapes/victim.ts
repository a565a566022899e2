import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";

/** A process of the host that attempts go for. */
export interface Victim {
  readonly pid: number;
  /** Of what `/proc/PID/environ` holds. */
  readonly environSha256: string;
  /** How often it was signalled, up to now. */
  signals(): Promise<number>;
  /** Waits a little for one more: who sends a signal is told before it arrives. */
  oneMore(than: number): Promise<void>;
  close(): Promise<void>;
}

const settleMs = 2_000;
const program = `
process.on("SIGUSR1", () => process.stdout.write("s"));
process.stdin.on("data", () => process.stdout.write("p")).on("end", () => process.exit());
process.stdout.write("r");
`;

export async function startVictim(): Promise<Victim> {
  const env = { BERTH_CANARY: randomBytes(16).toString("hex") };
  const child = spawn(process.execPath, ["-e", program], { env, stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(child, "exit");
  child.stdin.on("error", () => {}); // an attempt may have ended it
  let heard = "";
  let wake = (): void => {};
  const woken = (): Promise<void> =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  child.stdout.on("data", (chunk: Buffer) => {
    heard += chunk.toString("latin1");
    wake();
  });
  exited.then(() => wake()).catch(() => {}); // told by `spawn`
  await once(child, "spawn");
  const { pid = 0 } = child;
  const count = (letter: string): number => heard.split(letter).length - 1;
  /** Until it has answered so often, or is gone. */
  const answered = async (letter: string, times: number): Promise<void> => {
    while (count(letter) < times && child.exitCode === null && child.signalCode === null) {
      await woken();
    }
  };
  await answered("r", 1);
  return {
    pid,
    environSha256: createHash("sha256")
      .update(readFileSync(`/proc/${pid}/environ`))
      .digest("hex"),
    async signals() {
      // Twice: a signal that it got before the first question is told before the second answer.
      for (let asked = 0; asked < 2; asked++) {
        const before = count("p");
        child.stdin.write("?");
        await answered("p", before + 1);
      }
      return count("s");
    },
    async oneMore(than) {
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, settleMs);
      });
      await Promise.race([answered("s", than + 1), over]);
      clearTimeout(timer);
    },
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}
