import { describe, expect, it } from "vitest";
import {
  isLegacyRevision,
  isModernRevision,
  legacyRevisions,
  modernRevisions,
  negotiateRevision,
} from "../src/protocol.js";

describe("revisions", () => {
  it("are named newest first, and belong to one era each", () => {
    expect(legacyRevisions).toEqual(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    expect(modernRevisions).toEqual(["2026-07-28"]);
    for (const revision of legacyRevisions)
      expect([isLegacyRevision(revision), isModernRevision(revision)]).toEqual([true, false]);
    for (const revision of modernRevisions)
      expect([isLegacyRevision(revision), isModernRevision(revision)]).toEqual([false, true]);
    for (const other of ["2025-11-26", "", "constructor", 20251125, null, undefined]) {
      expect([isLegacyRevision(other), isModernRevision(other)]).toEqual([false, false]);
    }
  });

  it.each([
    { requested: "2025-11-25", answered: "2025-11-25" },
    { requested: "2025-06-18", answered: "2025-06-18" },
    { requested: "2025-03-26", answered: "2025-03-26" },
    { requested: "2024-11-05", answered: "2024-11-05" },
    { requested: "2026-07-28", answered: "2025-11-25" },
    { requested: "2024-10-07", answered: "2025-11-25" },
    { requested: "", answered: "2025-11-25" },
    { requested: 20250618, answered: "2025-11-25" },
    { requested: undefined, answered: "2025-11-25" },
  ])("are negotiated as the lifecycle page says: $requested is answered with $answered", ({ requested, answered }) => {
    expect(negotiateRevision(requested)).toBe(answered);
  });

  it("are negotiated among those that are served", () => {
    expect(negotiateRevision("2025-11-25", ["2025-06-18", "2025-03-26"])).toBe("2025-06-18");
    expect(negotiateRevision("2025-03-26", ["2025-06-18", "2025-03-26"])).toBe("2025-03-26");
  });
});
