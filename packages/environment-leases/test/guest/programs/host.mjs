// A host that makes environments until it is killed. argv: kind, folder, how many at once, extra: "stay" keeps the first ones.
import { createBubblewrapProvider, createUnconfinedProvider, readProfile } from "../../../dist/index.js";

const [kind, folder, count] = process.argv.slice(2);
const confined = kind === "bubblewrap";
const provider = confined ? await createBubblewrapProvider({ folder }) : await createUnconfinedProvider({ folder });
const policy = confined ? {} : { network: "internet", elevation: true };
const profile = readProfile("tried", { provider: kind, template: "/usr/bin/python3", platform: "linux", policy });
const name = () => `mcp-${Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString("hex")}`;
process.stdout.write("ready\n");
const live = async () => {
  for (;;) {
    const worker = name();
    const environment = await provider.create(worker, profile, { deadlineMs: 600_000 });
    await environment.open(["sh", "-c", "setsid sleep 1000 & sleep 1000"]);
    process.stdout.write(`${worker}\n`);
    if (count === "1") await environment.ended;
    await environment.close();
  }
};
await Promise.all(Array.from({ length: Number(count) }, live));
