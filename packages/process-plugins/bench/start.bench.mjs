import { median, prepare, spreadOf, supervise } from "./programs/place.mjs";
import { openRawPlugin } from "./programs/raw-plugin.mjs";

// Start of a confined plugin in POSIX sh: from the request for an instance to the answer of `start`. The sandbox's own test was
// made, and the folder measured, by a start before. The floor is the same executable under bubblewrap alone, which is asked
// `create` and `start` by a client that only writes lines and reads them. Ends are not in the time of either.

const rounds = 5;
const startsPerRound = 7;

async function oursStart(supervisor) {
  const from = performance.now();
  await supervisor.instance("smoke");
  const ms = performance.now() - from;
  await supervisor.stop("smoke");
  return ms;
}

async function rawStart(place) {
  const from = performance.now();
  const plugin = await openRawPlugin(place);
  const ms = performance.now() - from;
  await plugin.close();
  return ms;
}

async function measure(place, supervisor) {
  const kinds = { ours: () => oursStart(supervisor), raw: () => rawStart(place) };
  for (const start of Object.values(kinds)) await start();
  const figures = [];
  for (let round = 0; round < rounds; round++) {
    const times = { ours: [], raw: [] };
    for (let count = 0; count < startsPerRound; count++) {
      for (const [name, start] of Object.entries(kinds)) times[name].push(await start());
    }
    figures.push({ ours: median(times.ours), raw: median(times.raw) });
  }
  return figures;
}

export async function run() {
  const place = prepare("smoke-shell");
  const supervisor = supervise(place);
  try {
    const figures = await measure(place, supervisor);
    const ratios = figures.map(({ ours, raw }) => ours / raw);
    const ratio = median(ratios);
    return [
      {
        name: "start of a confined shell plugin / bwrap and the same executable (ms)",
        ours: median(figures.map(({ ours }) => ours)),
        other: median(figures.map(({ raw }) => raw)),
        ratio,
        target: 1.5,
        holds: ratio <= 1.5,
        spread: spreadOf(ratios),
      },
    ];
  } finally {
    await supervisor.close();
    place.remove();
  }
}
