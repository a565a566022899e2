// A host that was started with open descriptors; tells which of them a command inside has, for both forms of the handshake.
import { openSandbox } from "@berth/process-confinement";

const list = "import os; print(sorted(int(name) for name in os.listdir('/proc/self/fd'))[:-1], flush=True)";
const agent = "import os; os.write(4, b'r\\n'); os.read(3, 3); os.close(3); os.close(4); ";
for (const handshake of ["shell", "command"]) {
  const sandbox = await openSandbox({
    name: `descriptors-${process.pid}`,
    policy: {},
    file: "/usr/bin/python3",
    args: ["-I", "-c", handshake === "command" ? agent + list : list],
    env: {},
    handshake,
  });
  let text = "";
  for await (const chunk of sandbox.stdout) text += chunk;
  await sandbox.close();
  process.stdout.write(`${handshake} ${text}`);
}
