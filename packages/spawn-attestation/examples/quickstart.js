import { spawn } from "node:child_process";
import { attestedSpawn, createMeasurer, describeLaunch } from "@berth/spawn-attestation";

const measurer = createMeasurer();
const description = { command: "node", args: [process.argv[2]], env: { PATH: process.env.PATH } };
try {
  // Once, when a person trusts it: what runs, and the pins to keep.
  const { measurement, pin } = await describeLaunch(description, { measurer });
  console.log(`${measurement.coverage.scope} ${measurement.coverage.root}: ${pin.digest}`);

  // At each start: refused unless it is what was pinned.
  const attested = await attestedSpawn({
    description: { ...description, ...pin },
    policy: { allowUnmeasuredSpawn: false },
    record: async (decision) => console.log(`${decision.verdict} ${decision.evidence}`),
    spawn: async ({ file, args, argv0, env, cwd }) => spawn(file, args, { argv0, env, cwd, stdio: "inherit" }),
    end: async (child) => void child.kill("SIGKILL"),
    measurer,
  });
  // For a server: after its answer to `initialize`, before the first call.
  await attested.recheck();
} finally {
  await measurer.close();
}
