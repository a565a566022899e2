import { join } from "node:path";
import { expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { scratchFolder, serve, unconfined, writeConfig } from "../shipyard.js";
import { openBrowser, run, see, startSession } from "./support/browser.js";

const browserTest = partTest("chromium");

/** Controls without a name, fields without a label, ids that are there twice. */
const faultsOfMarkup = `(() => {
  const name = (e) => e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent || e.getAttribute("title");
  const nameless = [...document.querySelectorAll("button, a, input, select, textarea, iframe")].filter((e) => !name(e)?.trim());
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  return [...nameless.map((e) => e.outerHTML), ...ids.filter((id, at) => ids.indexOf(id) !== at)];
})()`;

/** The lowest ratio of text to ground (WCAG 2.2 § 1.4.3), with what has it. Controls out of use are left out, as there. */
const lowestContrast = `(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if ((c[3] ?? 1) > 0) return c; } return [255, 255, 255]; };
  let lowest = [99, ""];
  for (const e of document.querySelectorAll("body *")) {
    const hasText = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!hasText || !e.checkVisibility() || e.closest("[disabled], noscript, script")) continue;
    const [one, other] = [light(rgb(getComputedStyle(e).color)), light(ground(e))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < lowest[0]) lowest = [ratio, e.className + ": " + e.textContent.slice(0, 60)];
  }
  return lowest;
})()`;

browserTest(
  "it fits 400 and 1,280 pixels, is readable in light and dark, and names all of its controls",
  async () => {
    const folder = scratchFolder();
    const { url } = await serve(["--config", writeConfig(folder, unconfined), "--state", join(folder, "s")]);
    const seen = await see(await openBrowser(), url);
    const { page } = seen;
    await startSession(seen, "s".repeat(64));
    await run(
      seen,
      "import sys; print('x' * 3000); print('e' * 300, file=sys.stderr); open('f' * 200, 'w').close(); v = 'v' * 500",
    );
    await run(seen, "class H:\n  def _repr_html_(self): return '<b>' + 'x' * 3000\nH()");
    await run(seen, "1 / 0");
    await startSession(seen, "dead");
    await run(seen, "import os; os._exit(3)");
    await startSession(seen, "dead");
    await page.getByRole("button", { name: "s".repeat(64) }).click();
    for (const [link, tab] of [
      ["Sessions", "Console"],
      ["Sessions", "Files"],
      ["Sessions", "Variables"],
      ["Leases", undefined],
      ["Machine", undefined],
    ] as const) {
      await page.getByRole("link", { name: link }).click();
      if (tab !== undefined) await page.getByRole("tab", { name: tab }).filter({ visible: true }).click();
      if (tab === "Files")
        await page
          .getByRole("cell", { name: /f{200}$/ })
          .first()
          .waitFor();
      if (link === "Machine")
        await page
          .getByRole("row", { name: /^pid-namespace|^bubblewrap/ })
          .first()
          .waitFor({ timeout: 60_000 });
      for (const width of [1_280, 400]) {
        await page.setViewportSize({ width, height: 800 });
        const where = `${link} ${tab ?? ""} at ${width}`;
        expect(await page.evaluate("document.documentElement.scrollWidth"), where).toBeLessThanOrEqual(width);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          const lowest = await page.evaluate(lowestContrast);
          expect(lowest, `${where}, ${colorScheme}`).toEqual([
            expect.toSatisfy((ratio: number) => ratio >= 4.5),
            expect.anything(),
          ]);
        }
      }
      expect(await page.evaluate(faultsOfMarkup)).toEqual([]);
    }
    expect(seen.faults).toEqual([]);
  },
  120_000,
);
