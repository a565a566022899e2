import { describe, expect, it } from "vitest";
import { guardDevices } from "../src/guard-devices.js";
import { isConfinementError } from "../src/index.js";

describe("the guard of the machine's devices", () => {
  it("makes /dev read-only in a mount namespace of its own, for who owns the devices", () => {
    expect(guardDevices(true, (name) => `/bin/${name}`)).toEqual({
      before: ["/bin/unshare", "--mount", "--"],
      steps: ["/bin/mount --bind -o ro /dev /dev", "[ ! -w /dev ]"],
    });
  });

  it("does nothing for who does not own them, and needs no tool then", () => {
    expect(guardDevices(false, () => undefined)).toEqual({ before: [], steps: [] });
  });

  it.each(["unshare", "mount"])("refuses a sandbox without %s", (missing) => {
    const findTool = (name: string): string | undefined => (name === missing ? undefined : `/bin/${name}`);
    let refusal: unknown;
    try {
      guardDevices(true, findTool);
    } catch (error) {
      refusal = error;
    }
    expect(isConfinementError(refusal) && [refusal.code, refusal.cure]).toEqual([
      "CONFINEMENT_UNAVAILABLE",
      "install them: apt-get install util-linux mount",
    ]);
  });
});
