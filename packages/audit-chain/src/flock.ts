import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

/** Takes a lock on an open file, until it is closed. False: another has it; undefined: no way to ask. */
export type TakeFlock = (descriptor: number) => Promise<boolean | undefined>;

// Of util-linux or BusyBox. Absolute, so that PATH does not decide who answers for a lock.
const programs = ["/usr/bin/flock", "/bin/flock"];

/**
 * flock(2) through flock(1), since Node has no call for it. The lock belongs to the open file, which the child shares
 * with us as its descriptor 3: it outlives the child and ends with our process, however that ends.
 */
export const takeFlock: TakeFlock = (descriptor) => {
  const program = process.platform === "linux" ? programs.find((path) => existsSync(path)) : undefined;
  if (program === undefined) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const child = spawn(program, ["-n", "-x", "3"], { stdio: ["ignore", "ignore", "ignore", descriptor], env: {} });
    child.once("error", () => resolve(undefined));
    child.once("exit", (code) => resolve(code === 0 ? true : code === 1 ? false : undefined));
  });
};
