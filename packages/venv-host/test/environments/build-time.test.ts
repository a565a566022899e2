import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { expectNothingLeft, failure, makeWorld, preferUv, python, timeWith } from "./world.js";

const installers = preferUv() === "uv" ? (["uv", "pip"] as const) : (["pip"] as const);

describe.each(installers)("the time of %s", (installer) => {
  for (const { name, limits, timeoutMs } of [
    { name: "600 s where nothing else is said", limits: {}, timeoutMs: 600_000 },
    { name: "what the host says", limits: { buildTimeoutMs: 120_000 }, timeoutMs: 120_000 },
  ]) {
    partTest("python3", "python3-venv")(`is ${name}`, async () => {
      const world = makeWorld(installer);
      const scheduler = timeWith(timeoutMs);
      const store = await world.open({ limits, scheduler });
      const onProgress = (step: string): void => {
        if (step.startsWith("installing")) scheduler.pass();
      };
      const request = { interpreter: python, requirements: world.requirements };
      const error = await failure(store.acquire(request, { onProgress }));
      expect(error).toMatchObject({ code: "VENV_BUILD_FAILED", details: { timeoutMs } });
      await expectNothingLeft(world);
    });
  }
});
