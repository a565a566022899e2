import { describe, expect, it } from "vitest";
import { readHierarchies } from "../../src/limits/hierarchies.js";
import { hostOf, mountLine } from "./hosts.js";

describe("the trees of control groups, an inner file since a machine has one kind only", () => {
  it.each([
    {
      name: "version 2 alone, in a service",
      mountInfo: mountLine("cgroup2", "/sys/fs/cgroup", "rw,nsdelegate"),
      ownGroups: "0::/system.slice/berth.service\n",
      trees: [{ version: 2, top: "/sys/fs/cgroup", own: "/sys/fs/cgroup/system.slice/berth.service", controllers: [] }],
    },
    {
      name: "version 1 with two controllers in one tree, beside version 2 without any",
      mountInfo:
        mountLine("cgroup", "/sys/fs/cgroup/cpu,cpuacct", "rw,cpu,cpuacct") +
        mountLine("cgroup", "/sys/fs/cgroup/systemd", "rw,xattr,name=systemd") +
        mountLine("cgroup2", "/sys/fs/cgroup/unified"),
      ownGroups: "4:cpu,cpuacct:/a\n1:name=systemd:/b\n0::/c\n",
      trees: [
        {
          version: 1,
          top: "/sys/fs/cgroup/cpu,cpuacct",
          own: "/sys/fs/cgroup/cpu,cpuacct/a",
          controllers: ["cpu", "cpuacct"],
        },
        { version: 1, top: "/sys/fs/cgroup/systemd", own: "/sys/fs/cgroup/systemd/b", controllers: ["name=systemd"] },
        { version: 2, top: "/sys/fs/cgroup/unified", own: "/sys/fs/cgroup/unified/c", controllers: [] },
      ],
    },
    {
      name: "a container that sees its part of the tree",
      mountInfo: mountLine("cgroup", "/sys/fs/cgroup/memory", "rw,memory", "/docker/abc"),
      ownGroups: "4:memory:/docker/abc/inner\n",
      trees: [
        { version: 1, top: "/sys/fs/cgroup/memory", own: "/sys/fs/cgroup/memory/inner", controllers: ["memory"] },
      ],
    },
    {
      name: "a container whose part of the tree is not the one that is mounted",
      mountInfo: mountLine("cgroup", "/sys/fs/cgroup/memory", "rw,memory", "/docker/abc"),
      ownGroups: "4:memory:/docker/abcdef\n",
      trees: [],
    },
    {
      name: "a group outside of the namespace's root",
      mountInfo: mountLine("cgroup2", "/sys/fs/cgroup"),
      ownGroups: "0::/../other\n",
      trees: [],
    },
    {
      name: "a place of mounting with a space in its name, and a group with a colon",
      mountInfo: mountLine("cgroup2", "/mnt/control\\040groups"),
      ownGroups: "0::/a:b\n",
      trees: [{ version: 2, top: "/mnt/control groups", own: "/mnt/control groups/a:b", controllers: [] }],
    },
    { name: "none", mountInfo: "24 1 8:1 / / rw - ext4 /dev/root rw\n\nnot a line\n", ownGroups: "", trees: [] },
  ])("reads $name", ({ mountInfo, ownGroups, trees }) => {
    expect(readHierarchies(hostOf({ mountInfo, ownGroups }))).toEqual(trees);
  });
});
