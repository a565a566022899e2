// A host that opens one sandbox and tells its identity, then that its command runs, and then that the whole family does.
import { openSandbox } from "@berth/process-confinement";

const [, , name, token, handshake, policy] = process.argv;
const family = `trap '' TERM; sleep 600 & setsid sleep 601 & (setsid sleep 602 &); echo; : ${token}; wait`;
const agent = "echo r >&4; read g <&3 || exit 125; exec 3<&- 4>&-; ";
process.stdout.write('{"begun":true}\n');
const sandbox = await openSandbox({
  name,
  policy: JSON.parse(policy),
  file: "/bin/sh",
  args: ["-c", handshake === "command" ? agent + family : family],
  env: { PATH: "/usr/bin:/bin", TOKEN: token },
  handshake,
  record: (identity) => void process.stdout.write(`${JSON.stringify(identity)}\n`),
});
process.stdout.write('{"up":true}\n');
sandbox.stdout.once("data", () => process.stdout.write('{"family":true}\n'));
setInterval(() => {}, 1_000);
