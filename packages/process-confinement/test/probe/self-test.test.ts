import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { selfTest } from "../../src/index.js";
import { selfTestOn } from "../../src/probe/self-test.js";
import { thisHost } from "../../src/start/host.js";
import { mayRun, ordinaryUser, told, weakMachine } from "./machines.js";

describe("selfTest", () => {
  partTest("bubblewrap")(
    "tells what holds when what is needed holds, and tries no limit that is not named",
    async () => {
      const report = await selfTest({ limits: ["openFiles", "outputBytes"] });
      expect(report).toMatchObject({ usable: true, limits: ["openFiles", "outputBytes"] });
      expect((await selfTest()).limits).toEqual([]);
    },
  );

  it("refuses without bubblewrap, and says how to get it", async () => {
    await expect(selfTestOn({ ...thisHost(), findTool: () => undefined }, {})).rejects.toMatchObject({
      code: "CONFINEMENT_UNAVAILABLE",
      message: expect.stringContaining("bubblewrap"),
      cure: expect.stringContaining("apt-get install bubblewrap"),
    });
  });

  partTest("bubblewrap", "python3")("refuses when a protection does not hold, by its name", async () => {
    const host = weakMachine({ without: [["--unshare-net"]], extra: [] });
    await expect(selfTestOn(host, {})).rejects.toMatchObject({
      code: "CONFINEMENT_UNAVAILABLE",
      message: expect.stringContaining("net-namespace does not hold here"),
    });
  });

  partTest("bubblewrap")("refuses an interpreter that is none", async () => {
    await expect(selfTest({ interpreter: "/bin/sh" })).rejects.toMatchObject({ code: "INTERPRETER_NOT_FOUND" });
  });

  partTest("bubblewrap")("refuses in a sandbox that forbids another one", () => {
    const outer = ["bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--proc", "/proc"];
    expect(told(outer, "selfTest").error).toMatchObject({
      code: "CONFINEMENT_UNAVAILABLE",
      message: expect.stringContaining("user-namespace does not hold here"),
      cure: expect.any(String),
    });
  });

  partTest("bubblewrap", "ordinary-user")("refuses an ordinary user a limit that nothing holds for it", (context) => {
    if (!mayRun(ordinaryUser)) context.skip("needs a checkout that an ordinary user may read");
    expect(told(ordinaryUser, "selfTest", { limits: ["processes"] }).report).toMatchObject({ limits: ["processes"] });
    expect(told(ordinaryUser, "selfTest", { limits: ["memoryBytes"] }).error).toMatchObject({
      code: "LIMIT_NOT_ENFORCEABLE",
      field: "limits.memoryBytes",
      cure: expect.stringMatching(/systemd-run|chown/),
    });
  });

  it.each([
    { options: '{"limit":["memoryBytes"]}', field: "limit" },
    { options: '{"limits":["memory"]}', field: "limits[0]" },
    { options: '{"limits":"memoryBytes"}', field: "limits" },
    { options: '{"interpreter":"python3"}', field: "interpreter" },
  ])("refuses $options: what is misspelled would not be tried", async ({ options, field }) => {
    await expect(selfTest(JSON.parse(options))).rejects.toMatchObject({ code: "SANDBOX_OPTION_INVALID", field });
  });

  it("rejects with the reason of an abort", async () => {
    await expect(selfTest({ signal: AbortSignal.abort("enough") })).rejects.toBe("enough");
  });
});
