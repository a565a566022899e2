import { expect, it } from "vitest";
import { fileBody } from "../../src/http/rest/to-wire.js";

// Code gives its files any time that the file system takes.
it.each([
  [0, "1970-01-01T00:00:00.000Z"],
  [1e18, "9999-12-31T23:59:59.999Z"],
  [-1e18, "0001-01-01T00:00:00.000Z"],
  [Number.POSITIVE_INFINITY, "9999-12-31T23:59:59.999Z"],
  [Number.NaN, "1970-01-01T00:00:00.000Z"],
])("a file of the time %d is told", (modifiedAt, told) => {
  expect(fileBody({ path: "a", kind: "file", bytes: 0, modifiedAt }).modified_at).toBe(told);
});
