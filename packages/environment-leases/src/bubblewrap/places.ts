/** Where things are inside a sandbox. The egress proxy's socket lies beside them (`egressSocketPath`). */
export const inside = {
  workspace: "/workspace",
  guest: "/run/berth/guest",
  dial: "/run/berth/dial.sock",
  wheels: "/run/berth/wheels",
} as const;
