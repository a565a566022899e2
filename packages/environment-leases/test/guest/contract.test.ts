import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { providerContract, pythonPrograms } from "../../src/contract.js";
import { kinds } from "./provider-kinds.js";

describe.each(kinds)("a provider of $name environments", (kind) => {
  const checks = providerContract(async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-"));
    const { template, platform, policy } = kind.profile();
    const { network, elevation } = policy;
    return {
      provider: await kind.open(folder),
      template,
      platform,
      policy: { network, elevation },
      programs: ({ interpreter }) => pythonPrograms(interpreter),
      another: () => kind.open(folder),
      dispose: () => rm(folder, { recursive: true, force: true }),
    };
  });
  const test = partTest(...kind.parts);
  for (const { name, run } of checks) test(name, run);
});
