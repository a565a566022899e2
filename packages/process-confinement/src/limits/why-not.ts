import { readOr } from "../machine/read-or.js";
import { type Controller, controllersOf } from "./group-place.js";
import type { Hierarchy } from "./hierarchies.js";
import { type LimitsHost, mayWrite } from "./limits-host.js";

/** Why a limit is refused, and what to do. */
export interface Refusal {
  readonly cause: string;
  readonly cure: string;
}

const withoutGroup = {
  memory: "without one, an rlimit would bind each process for itself and not all together",
  pids: "without one, RLIMIT_NPROC would have to hold it, and that does nothing for root",
  cpu: "nothing else divides the processors",
} as const satisfies Record<Controller, string>;

/** For a controller that no group of ours can have. */
export function whyNotHeld(controller: Controller, hierarchies: readonly Hierarchy[], host: LimitsHost): Refusal {
  const { cause, cure } = reason(controller, hierarchies, host);
  return { cause: `${cause}; ${withoutGroup[controller]}`, cure };
}

function reason(controller: Controller, hierarchies: readonly Hierarchy[], { uid }: LimitsHost): Refusal {
  if (hierarchies.length === 0) {
    return {
      cause: "no control groups are mounted",
      cure: "mount them: mount -t cgroup2 none /sys/fs/cgroup; in a container, give it a writable /sys/fs/cgroup",
    };
  }
  const owner = hierarchies.find((one) => controllersOf(one).includes(controller));
  if (owner === undefined) {
    return {
      cause: `the kernel's control groups have no "${controller}" controller`,
      cure: `boot with cgroup_enable=${controller}, or with a kernel that has it`,
    };
  }
  if (owner.version === 2 && isFullOfProcesses(owner.own, controller)) {
    return {
      cause: `${owner.own} has processes in it and so cannot give its "${controller}" controller on`,
      cure: `move them into a group below before the host starts: mkdir ${owner.own}/host && for p in $(cat ${owner.own}/cgroup.procs); do echo $p >${owner.own}/host/cgroup.procs; done`,
    };
  }
  if (uid === 0) {
    return {
      cause: `the "${controller}" controller is not to be had in ${owner.own}`,
      cure: "in a container, mount /sys/fs/cgroup writable (docker: --security-opt writable-cgroups=true); in a service of systemd, set Delegate=yes and DelegateSubgroup=host",
    };
  }
  return {
    cause: `user ${uid} may not make a group with the "${controller}" controller in ${owner.own}`,
    cure:
      owner.version === 2
        ? "start the host by: systemd-run --user --scope -p Delegate=yes COMMAND; or start it as root"
        : `start the host as root, or in a group that root hands over: mkdir ${owner.own}/handed && chown -R ${uid} ${owner.own}/handed, then write the host's number to its cgroup.procs`,
  };
}

// cgroup-v2.rst, No Internal Process Constraint: all that is missing is that the processes live one group further down.
function isFullOfProcesses(own: string, controller: Controller): boolean {
  const isOurs = mayWrite(own) && mayWrite(`${own}/cgroup.procs`);
  return isOurs && readOr(`${own}/cgroup.controllers`, "").split(/\s+/).includes(controller);
}
