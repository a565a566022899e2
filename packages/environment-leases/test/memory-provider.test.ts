import { describe, it } from "vitest";
import type { ContractPrograms } from "../src/contract.js";
import { providerContract } from "../src/contract.js";
import { createMemoryProvider, createMemoryWorld, type MemoryProgram } from "../src/memory.js";

const print: MemoryProgram = ({ args: [out = "", err = ""], stdout, stderr }) => {
  stdout.write(out);
  stderr.write(err);
  return 0;
};
const up =
  (isPolite: boolean): MemoryProgram =>
  ({ stdout, interrupted }) => {
    stdout.write("up");
    return new Promise((resolve) => interrupted.addEventListener("abort", () => isPolite && resolve(130)));
  };
const programs = { print, waitUp: up(true), resistUp: up(false) };

const contractPrograms: ContractPrograms = {
  print: (out, err) => ["print", out, err],
  exit: (status) => ["exit", String(status)],
  copy: () => ["copy"],
  flood: (bytes) => ["flood", String(bytes)],
  wait: () => ["waitUp"],
  resist: () => ["resistUp"],
};

describe("the provider in memory", () => {
  const open = () => {
    const world = createMemoryWorld();
    return {
      provider: createMemoryProvider({ world, programs }),
      template: "python3",
      programs: () => contractPrograms,
      another: async () => createMemoryProvider({ world, programs }),
    };
  };
  for (const { name, run } of providerContract(open)) it(name, run);
});
