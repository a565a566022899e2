// Loaded before the real program (`node --import`): counts the calls that change files below the store, and ends the
// process with SIGKILL at one of them, before or after it was done, or stops it there. Nothing of the program is changed.
//   KILL_BELOW  the folder whose files count; KILL_AT  the number of the call; KILL_SIDE  `before` or `after`
//   KILL_SIGNAL instead of SIGKILL
//   KILL_LOG    where the number and name of each counted call is written to
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { KILL_BELOW: below, KILL_AT: at, KILL_SIDE: side, KILL_SIGNAL: signal = "SIGKILL", KILL_LOG: log } = process.env;
const logFile = log === undefined ? undefined : fs.openSync(log, "a");
let count = 0;

const die = () => {
  process.kill(process.pid, signal);
  // Nothing more is done while the signal is on its way.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

function counted(name, original, owner) {
  return async function (...args) {
    const path = args.find((each) => typeof each === "string" && each.startsWith(below));
    if (path === undefined) return original.apply(this ?? owner, args);
    count += 1;
    const isIt = count === Number(at);
    if (logFile !== undefined) fs.writeSync(logFile, `${count} ${name} ${path}\n`);
    if (isIt && side === "before") die();
    try {
      return await original.apply(this ?? owner, args);
    } finally {
      // Also when it failed: some calls are expected to.
      if (isIt) die();
    }
  };
}

for (const name of ["mkdir", "rename", "link", "unlink", "rm", "writeFile"]) {
  fs.promises[name] = counted(name, fs.promises[name], fs.promises);
}
const open = fs.promises.open;
fs.promises.open = async (path, flags, ...rest) => {
  const isWriting = typeof flags === "number" ? (flags & 3) !== 0 : /[wa+]/.test(flags ?? "r");
  return isWriting || flags === "r"
    ? counted(`open ${flags}`, open, fs.promises)(path, flags, ...rest)
    : open(path, flags, ...rest);
};
syncBuiltinESMExports();
