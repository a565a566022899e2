// A host that opens one sandbox and tells its identity, and then that its command runs.
import { openSandbox } from "@berth/process-confinement";

const [, , name, token, handshake, limits] = process.argv;
const family = `trap '' TERM; sleep 600 & setsid sleep 601 & (setsid sleep 602 &); : ${token}; wait`;
const agent = "echo r >&4; read g <&3 || exit 125; exec 3<&- 4>&-; ";
process.stdout.write('{"begun":true}\n');
await openSandbox({
  name,
  policy: { limits: JSON.parse(limits) },
  file: "/bin/sh",
  args: ["-c", handshake === "command" ? agent + family : family],
  env: { PATH: "/usr/bin:/bin", TOKEN: token },
  handshake,
  record: (identity) => void process.stdout.write(`${JSON.stringify(identity)}\n`),
});
process.stdout.write('{"up":true}\n');
setInterval(() => {}, 1_000);
