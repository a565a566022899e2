import fc from "fast-check";
import { expect, it } from "vitest";
import type { HookOutcome, OnError, PluginMode } from "../../src/executor.js";
import { hostOf, requestOf, type TestPlugin } from "./hosts.js";

const RUNS = { numRuns: 200 };
const ORDER: readonly PluginMode[] = ["sequential", "transform", "audit", "concurrent", "fire_and_forget"];

const spec = fc.record({
  mode: fc.constantFrom<PluginMode>(...ORDER, "disabled"),
  priority: fc.integer({ min: 0, max: 3 }),
  onError: fc.constantFrom<OnError>("fail", "ignore", "disable"),
  outcome: fc.constantFrom("allow", "deny", "modify", "fail"),
  /** How many turns of the loop it takes. */
  turns: fc.integer({ min: 0, max: 3 }),
});
type Spec = ReturnType<typeof spec.generate>["value"];

function pluginsOf(specs: readonly Spec[], ran: string[] = []): readonly TestPlugin[] {
  return specs.map(({ outcome, turns, ...rest }, at) => ({
    ...rest,
    name: `p${at}`,
    does: async () => {
      ran.push(`p${at}`);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      if (outcome === "fail") throw new Error("it broke");
      if (outcome === "deny") return { continue_processing: false, violation: { code: `p${at}` } };
      return outcome === "modify"
        ? { modified_payload: { name: `p${at}` }, modified_extensions: { custom: { by: `p${at}` } } }
        : {};
    },
  }));
}

async function run(plugins: readonly TestPlugin[], shortCircuitOnDeny: boolean): Promise<HookOutcome> {
  await using host = hostOf(plugins, { settings: { shortCircuitOnDeny } });
  return await host.run(requestOf({ extensions: { custom: {} } }));
}

/** Whether a plugin ends the hook, by its mode. */
function denies({ mode, onError, outcome }: Spec): boolean {
  const mayDeny = mode === "sequential" || mode === "concurrent";
  return mayDeny && (outcome === "deny" || (outcome === "fail" && onError === "fail"));
}

it("decides as the modes say, runs nobody out of order, and gives an account of every plugin", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(spec, { maxLength: 8 }), fc.boolean(), async (specs, isShort) => {
      const ran: string[] = [];
      const outcome = await run(pluginsOf(specs, ran), isShort);
      const order = specs
        .map((one, at) => ({ ...one, at }))
        .filter(({ mode }) => mode !== "disabled")
        .sort((a, b) => ORDER.indexOf(a.mode) - ORDER.indexOf(b.mode) || a.priority - b.priority || a.at - b.at);
      const names = order.map(({ at }) => `p${at}`);
      expect(outcome.executions.map(({ plugin }) => plugin)).toEqual(names);
      expect(ran).toEqual(names.filter((name) => ran.includes(name)));
      expect(outcome.allowed).toBe(!order.some(denies));
      expect(outcome.violation === undefined).toBe(outcome.allowed);
      const firstDeny = order.find((one) => one.mode === "sequential" && denies(one));
      if (firstDeny !== undefined) expect(outcome.violation?.plugin).toBe(`p${firstDeny.at}`);
      const lastChange = order
        .filter(({ mode, outcome: what }) => what === "modify" && (mode === "sequential" || mode === "transform"))
        .filter((one) => firstDeny === undefined || order.indexOf(one) < order.indexOf(firstDeny))
        .at(-1);
      expect(outcome.payload["name"]).toBe(lastChange === undefined ? "add" : `p${lastChange.at}`);
      expect(outcome.extensions?.custom).toEqual(lastChange === undefined ? {} : { by: `p${lastChange.at}` });
    }),
    RUNS,
  );
});

it("comes to the same decision, payload and extensions in whatever order concurrent plugins stand and answer", async () => {
  const concurrent = spec.map((one) => ({ ...one, mode: "concurrent" as const }));
  const shuffled = fc
    .array(concurrent, { minLength: 1, maxLength: 6 })
    .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));
  await fc.assert(
    fc.asyncProperty(shuffled, fc.boolean(), async ([list, other], isShort) => {
      const [one, two] = [await run(pluginsOf(list), isShort), await run(pluginsOf(other), isShort)];
      expect(two.allowed).toBe(one.allowed);
      expect(two.payload).toBe(one.payload);
      expect(two.extensions).toEqual(one.extensions);
    }),
    RUNS,
  );
});
