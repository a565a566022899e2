import { describe, expect, it } from "vitest";
import { harbour } from "./harbour.js";

const good = { name: "node", status: "ok", message: "runs", advice: "never shown" };
const alike = (name: string) => ({ name, status: "fail", message: "no sandbox", advice: "install it" });

describe("what a doctor found", () => {
  it("is lines for a person, one for each fault, and 1 when something failed", async () => {
    const note = { name: "key", status: "warn", message: "is set", advice: "take it out" };
    const { code, stdout } = await harbour("doctor", JSON.stringify([good, alike("a"), note, alike("b"), alike("b")]));
    expect(code).toBe(1);
    expect(stdout.split("\n")).toEqual([
      "ok    node: runs",
      "FAIL  a, b: no sandbox",
      "      install it",
      "note  key: is set",
      "      take it out",
      "serve would NOT start",
      "",
    ]);
  });

  it("is 0 without a failure, and JSON holds each check as it is", async () => {
    expect(await harbour("doctor", JSON.stringify([good]))).toMatchObject({
      code: 0,
      stdout: "ok    node: runs\nserve would start\n",
    });
    const { code, stdout } = await harbour("doctor", "--json", JSON.stringify([good, alike("a"), alike("b")]));
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ ok: false, checks: [good, alike("a"), alike("b")] });
  });
});
