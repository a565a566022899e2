import { median, prepare, spreadOf, supervise } from "./programs/place.mjs";
import { openRawPlugin } from "./programs/raw-plugin.mjs";

// Calls of the tool `echo` of a confined plugin in Python, one after another: through an instance, and through a client that only
// writes lines to the same program in a process of its own under bubblewrap and reads them; in slices, in turn, while the other waits.

const rounds = 5;
const slices = 5;
const callsPerSlice = 200;
const params = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  },
  name: "echo",
  arguments: { text: "x".repeat(100) },
};

async function slice(call, times) {
  for (let count = 0; count < callsPerSlice; count++) {
    const from = performance.now();
    await call();
    times.push(performance.now() - from);
  }
}

async function measure(instance, raw) {
  const calls = { ours: () => instance.request("tools/call", params), raw: () => raw.ask("tools/call", params) };
  for (const call of Object.values(calls)) await slice(call, []);
  const figures = [];
  for (let round = 0; round < rounds; round++) {
    const times = { ours: [], raw: [] };
    for (let count = 0; count < slices; count++) {
      for (const [name, call] of Object.entries(calls)) await slice(call, times[name]);
    }
    figures.push({ ours: median(times.ours), raw: median(times.raw) });
  }
  return figures;
}

export async function run() {
  const place = prepare("smoke-python");
  const supervisor = supervise(place);
  let raw;
  try {
    raw = await openRawPlugin(place);
    const figures = await measure(await supervisor.instance("smoke"), raw);
    const added = figures.map(({ ours, raw: floor }) => ours - floor);
    const ratio = median(added);
    return [
      {
        name: "what an instance adds to an MCP call, p50, over a raw pipe client",
        unit: "ms",
        ours: median(figures.map(({ ours }) => ours)),
        other: median(figures.map(({ raw: floor }) => floor)),
        ratio,
        target: 0.15,
        holds: ratio <= 0.15,
        spread: spreadOf(added),
      },
    ];
  } finally {
    await Promise.all([supervisor.close(), raw?.close()]);
    place.remove();
  }
}
