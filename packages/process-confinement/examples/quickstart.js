import { openSandbox } from "@berth/process-confinement";

const sandbox = await openSandbox({
  name: `quickstart-${process.pid}`,
  policy: { workspace: { kind: "memory", maxBytes: 16 * 2 ** 20 } },
  file: "/bin/sh",
  args: ["-c", "echo hello >note; cat note; ls /home 2>&1; exit 3"],
  env: { PATH: "/usr/bin:/bin" },
});
try {
  for await (const chunk of sandbox.stdout) process.stdout.write(chunk);
  console.log(await sandbox.exited);
} finally {
  await sandbox.close();
}
