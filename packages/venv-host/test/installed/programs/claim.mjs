// Claims an installed environment, says so, and lets it go when its input ends.
import { claimInstalledEnvironment } from "@berth/venv-host";

const claim = await claimInstalledEnvironment(JSON.parse(process.argv[2]));
console.log("claimed");
for await (const _ of process.stdin);
await claim.close();
