import { expect, it } from "vitest";
import { isForeignPage } from "../../src/http/index.js";

it.each([
  { name: "a program", method: "POST", site: undefined, mode: undefined, isForeign: false },
  { name: "the page itself", method: "POST", site: "same-origin", mode: "cors", isForeign: false },
  { name: "a form of another site", method: "POST", site: "cross-site", mode: "navigate", isForeign: true },
  { name: "a script of another port", method: "DELETE", site: "same-site", mode: "cors", isForeign: true },
  { name: "a link of another site", method: "GET", site: "cross-site", mode: "navigate", isForeign: false },
  { name: "a picture of another site", method: "GET", site: "cross-site", mode: "no-cors", isForeign: true },
  { name: "a script of another port that reads", method: "GET", site: "same-site", mode: "cors", isForeign: false },
])("$name ($method) is foreign: $isForeign", ({ isForeign, ...sent }) => {
  expect(isForeignPage(sent)).toBe(isForeign);
});
