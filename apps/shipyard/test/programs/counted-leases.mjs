// What the command takes for @berth/environment-leases. BERTH_FAULT_POINT, as JSON: { call, when }: the process kills itself
// before or after the named call has had its effect. BERTH_FAULT_CALLS: a file that gets the name of every call.
// A call's name: phase, what is called, how often it was in this phase: "serve update releasing #2".
import { appendFileSync } from "node:fs";
import { createLeases as create } from "@berth/environment-leases";

export * from "@berth/environment-leases";

const point = JSON.parse(process.env.BERTH_FAULT_POINT ?? "{}");
const calls = process.env.BERTH_FAULT_CALLS;
const counts = new Map();
let phase = "start";

async function counted(what, work) {
  const place = `${phase} ${what}`;
  const count = (counts.get(place) ?? 0) + 1;
  counts.set(place, count);
  const call = `${place} #${count}`;
  if (calls !== undefined) appendFileSync(calls, `${call}\n`);
  if (point.call !== call) return work();
  if (point.when === "before") process.kill(process.pid, "SIGKILL");
  const result = await work();
  process.kill(process.pid, "SIGKILL");
  return result;
}

const updateName = (_id, _generation, change) => `update ${change.state ?? "of an unchanged state"}`;
const recordName = (event) => `record ${event.kind}`;

/** The subject with each of these functions counted, under the name that its arguments give it. */
function watched(subject, names) {
  const wrapped = Object.entries(names).map(([name, nameOf]) => [
    name,
    (...given) => counted(nameOf(...given), () => subject[name](...given)),
  ]);
  return { ...subject, ...Object.fromEntries(wrapped) };
}

const plain = (names) => Object.fromEntries(names.map((name) => [name, () => name]));

export function createLeases(options) {
  const leases = create({
    ...watched(options, { record: recordName }),
    store: watched(options.store, { ...plain(["insert", "get", "list", "listDue", "prune"]), update: updateName }),
    providers: options.providers.map((one) => watched(one, plain(["create", "destroy", "exists", "listWorkers"]))),
  });
  const inPhase = (name, work) => () => {
    phase = name;
    return work();
  };
  return {
    ...leases,
    close: inPhase("close", leases.close),
    async recover() {
      phase = "recover";
      const result = await leases.recover();
      phase = "serve";
      return result;
    },
  };
}
