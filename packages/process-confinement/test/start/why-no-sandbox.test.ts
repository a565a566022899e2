import { describe, expect, it } from "vitest";
import { type KernelSettings, whyNoSandbox } from "../../src/start/why-no-sandbox.js";

describe("why no sandbox comes up, an inner function since no machine has all causes", () => {
  const open: KernelSettings = {
    maxUserNamespaces: "96551",
    unprivilegedUserNamespaces: undefined,
    appArmorRestriction: undefined,
  };

  it.each([
    {
      words: "bwrap: setting up uid map: Permission denied",
      settings: { appArmorRestriction: "1" },
      aspect: "user-namespace",
      cause: /AppArmor/,
    },
    {
      words: "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
      settings: { appArmorRestriction: "1" },
      aspect: "user-namespace",
      cause: /AppArmor/,
    },
    {
      words:
        "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.",
      settings: { unprivilegedUserNamespaces: "0" },
      aspect: "user-namespace",
      cause: /only root/,
    },
    {
      words: "bwrap: No permissions to creating new namespace, likely because",
      settings: {},
      aspect: "user-namespace",
      cause: /may not make/,
    },
    {
      words: "bwrap: Creating new namespace failed: No space left on device",
      settings: { maxUserNamespaces: "0" },
      aspect: "user-namespace",
      cause: /max_user_namespaces=0/,
    },
    {
      words: "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
      settings: {},
      aspect: "user-namespace",
      cause: /no further/,
    },
    {
      words: "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      settings: {},
      aspect: "pid-namespace",
      cause: /hidden/,
    },
    {
      words: "bwrap: prctl(PR_SET_SECCOMP): Invalid argument",
      settings: {},
      aspect: "seccomp",
      cause: /takes no seccomp/,
    },
    { words: "bwrap: Unknown option --size", settings: {}, aspect: "bubblewrap", cause: /lacks an option/ },
    {
      words: "bwrap: pivot_root: Invalid argument",
      settings: {},
      aspect: "user-namespace",
      cause: /initramfs/,
    },
    {
      words: "cannot protect /dev: Operation not permitted",
      settings: {},
      aspect: "bubblewrap",
      cause: /mount namespace/,
    },
  ])("reads $words", ({ words, settings, aspect, cause }) => {
    const why = whyNoSandbox(words, { ...open, ...settings });
    expect(why).toMatchObject({ aspect, cause: expect.stringMatching(cause) });
    expect(why?.cure.length).toBeGreaterThan(20);
  });

  it("says nothing of words that nobody has seen", () => {
    expect(whyNoSandbox("bwrap: something that nobody has seen", open)).toBeUndefined();
  });
});
