import { median, prepare, spreadOf, supervise } from "./programs/place.mjs";
import { openRawPlugin } from "./programs/raw-plugin.mjs";

// Start of a confined plugin in POSIX sh: from the request for an instance to the answer of `start`. The floor is the same executable
// under bubblewrap alone, which is asked `create` and `start` by a client that only writes lines and reads them. The sandbox's own test
// was made before. `again`: the plugin ran before and has ended a while ago, so that it was measured once, and a sandbox waits for it.
// `first`: of a new supervisor, which reads and measures the folder, and where nothing waits. Ends are not in the time of either.

const rounds = 5;
const startsPerRound = 7;

async function oursStart(supervisor) {
  const from = performance.now();
  await supervisor.instance("smoke");
  const ms = performance.now() - from;
  await supervisor.stop("smoke");
  return ms;
}

async function firstStart(place) {
  const supervisor = supervise(place);
  const from = performance.now();
  await supervisor.instance("smoke");
  const ms = performance.now() - from;
  await supervisor.close();
  return ms;
}

async function rawStart(place) {
  const from = performance.now();
  const plugin = await openRawPlugin(place);
  const ms = performance.now() - from;
  await plugin.close();
  return ms;
}

/** Until what an end has set going is over: it would be in the time of whichever comes next. */
const atRest = () => new Promise((resolve) => setTimeout(resolve, 150));

async function measure(place, supervisor) {
  const kinds = { again: () => oursStart(supervisor), first: () => firstStart(place), raw: () => rawStart(place) };
  for (const start of Object.values(kinds)) await start();
  const figures = [];
  for (let round = 0; round < rounds; round++) {
    const times = { again: [], first: [], raw: [] };
    for (let count = 0; count < startsPerRound; count++) {
      for (const [name, start] of Object.entries(kinds)) {
        await atRest();
        times[name].push(await start());
      }
    }
    figures.push({ again: median(times.again), first: median(times.first), raw: median(times.raw) });
  }
  return figures;
}

function row(name, figures, kind, target) {
  const ratios = figures.map((figure) => figure[kind] / figure.raw);
  const ratio = median(ratios);
  const ours = median(figures.map((figure) => figure[kind]));
  const other = median(figures.map(({ raw }) => raw));
  return { name, ours, other, ratio, target, holds: target === undefined || ratio <= target, spread: spreadOf(ratios) };
}

export async function run() {
  const place = prepare("smoke-shell");
  const supervisor = supervise(place);
  try {
    const figures = await measure(place, supervisor);
    return [
      row("start of a confined shell plugin, again / bwrap and the same executable (ms)", figures, "again", 1.5),
      row("start of a confined shell plugin, first / bwrap and the same executable (ms)", figures, "first"),
    ];
  } finally {
    await supervisor.close();
    place.remove();
  }
}
