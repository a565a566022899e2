import { describe, expect } from "vitest";
import { partTest, pythonOf } from "../../../fixtures/parts.js";
import { openLocalSession } from "./guests/local-session.js";

describe("figures of the real matplotlib", () => {
  partTest("matplotlib")(
    "are displayed as PNG at the end of their call, without a word on stderr",
    async () => {
      const { run } = await openLocalSession({
        interpreter: pythonOf("matplotlib"),
        limits: { defaultCallMs: 120_000 },
      });
      const told = await run("import matplotlib.pyplot as plt\nplt.plot([1, 2, 4])\nplt.show()\nprint('shown')");
      expect(told).toMatchObject({ status: "ok", stdout: { text: "shown\n" }, stderr: { text: "" } });
      expect(told.displays).toHaveLength(1);
      const png = Buffer.from(told.displays[0]?.data["image/png"] ?? "", "base64");
      expect(png.subarray(0, 8)).toEqual(Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"));
      expect((await run("plt.get_fignums()")).result).toBe("[]");
      const two = await run("f, (a, b) = plt.subplots(1, 2)\nplt.figure();");
      expect(two.displays).toHaveLength(2);
      expect((await run("import matplotlib\nmatplotlib.get_backend().lower()")).result).toBe("'agg'");
    },
    120_000,
  );
});
