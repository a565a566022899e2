// Loaded before the real command (`node --import`): at SIGUSR2 its wall clock is off by the milliseconds that the file
// BERTH_CLOCK holds, as when somebody sets the clock of the machine. No time passes: the monotonic clock is the machine's.
import { readFileSync } from "node:fs";

const { now } = Date;
let offMs = 0;
const setClock = () => {
  offMs = Number(readFileSync(process.env.BERTH_CLOCK, "utf8"));
  process.stderr.write(`${JSON.stringify({ clock: offMs })}\n`);
};

globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length === 0 ? [now() + offMs] : given));
  }
  static now() {
    return now() + offMs;
  }
};
setClock();
process.on("SIGUSR2", setClock);
