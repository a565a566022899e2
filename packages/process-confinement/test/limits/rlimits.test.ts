import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { innerPrefix, joinLine } from "../../src/limits/join.js";
import { planLimits } from "../../src/limits/plan.js";
import { joined, run } from "./bounded.js";
import { hostOf } from "./hosts.js";

const tell = `
import resource as r
print([r.getrlimit(x)[1] for x in (r.RLIMIT_CPU, r.RLIMIT_FSIZE, r.RLIMIT_NOFILE, r.RLIMIT_NPROC)])
`;

describe("limits of each process", () => {
  partTest("python3", "util-linux")("are set to the byte before the command is executed, and cannot be raised", () => {
    const plan = planLimits({ cpuSeconds: 7, fileBytes: 100_001, openFiles: 100 }, {}, hostOf({}));
    const { stdout } = run([...joined(plan, []), "python3", "-c", tell]);
    expect(stdout).toMatch(/^\[7, 100001, 100, /);
  });

  partTest("python3")("small ones are set by the first process inside", () => {
    const plan = planLimits({ fileBytes: 512, openFiles: 16 }, {}, hostOf({}));
    expect(joinLine(plan, [])).toBe(" exec");
    expect(run([...innerPrefix(plan), "python3", "-c", tell]).stdout).toMatch(/^\[-1, 512, 16, /);
  });

  partTest("python3")("a group that cannot be entered ends the start before anything was executed", () => {
    const prefix = joined(planLimits({}, {}, hostOf({})), ["/nowhere/berth/x"]);
    expect(run([...prefix, "echo", "ran"])).toMatchObject({ status: 125, stdout: "" });
  });

  partTest("python3", "util-linux")("a file may not grow beyond the bound", () => {
    const plan = planLimits({ fileBytes: 1000 }, {}, hostOf({}));
    const program = "import os, tempfile; f = tempfile.TemporaryFile(); print(os.write(f.fileno(), bytes(2000)))";
    expect(run([...innerPrefix(plan), "python3", "-c", program]).stdout).toBe("1000\n");
  });

  partTest("python3")("processor time ends a process", () => {
    const plan = planLimits({ cpuSeconds: 1 }, {}, hostOf({}));
    expect(run([...joined(plan, []), "python3", "-c", "while True: pass"]).signal).toBe("SIGKILL");
  });

  partTest(
    "bubblewrap",
    "ordinary-user",
    "python3",
  )("processes of an ordinary user are counted for each sandbox, not for the user", () => {
    const plan = planLimits({ processes: 4 }, { inside: 1 }, hostOf({ uid: 65_534 }));
    const user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    const sandbox = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc"];
    const program = `
import os, signal
count = 1
try:
    while count < 50:
        if os.fork() == 0: signal.pause()
        count += 1
except OSError: pass
print(count)
`;
    const others = [
      "/bin/sh",
      "-c",
      `p=; for i in 1 2 3 4 5 6 7 8; do sleep 20 >/dev/null 2>&1 & p="$p $!"; done; "$@"; kill $p`,
      "sh",
    ];
    const all = [...user, ...others, ...sandbox, ...innerPrefix(plan), "/usr/bin/python3", "-c", program];
    expect(run(all).stdout).toBe("4\n");
  });
});
