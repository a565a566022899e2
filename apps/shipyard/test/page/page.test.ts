import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { tellingEndless } from "../cells.js";
import { scratchFolder, serve, writeConfig } from "../shipyard.js";
import { openBrowser, run, type Seen, see, startSession } from "./support/browser.js";

const browserTest = partTest("chromium", "bubblewrap");
const seconds = 90_000;

/** The real command, with sandboxes, and its page. */
async function open(): Promise<Seen> {
  const { url } = await serve(["--state", join(scratchFolder(), "s")]);
  return see(await openBrowser(), url);
}

browserTest(
  "a session is started, used and stopped by the keyboard alone",
  async () => {
    const { page, faults } = await open();
    const { keyboard } = page;
    await page.getByText("No session runs. Start one to run code").waitFor();
    const name = page.getByLabel("Name of a new session");
    for (let step = 0; step < 10 && (await name.and(page.locator(":focus")).count()) === 0; step += 1)
      await keyboard.press("Tab");
    await keyboard.type("lab");
    await keyboard.press("Enter");
    await page.getByText("Nothing was run here yet").waitFor();
    await keyboard.type("for n in range(2):\nprint('line', n)");
    expect(await page.getByLabel("Python code").inputValue()).toBe("for n in range(2):\n    print('line', n)");
    await keyboard.press("Control+Enter");
    await page.getByText(/\[1\] ok · .*ms/).waitFor();
    expect(await page.locator(".stdout").textContent()).toBe("line 0\nline 1\n");

    await keyboard.type("6 * 7");
    await keyboard.press("Control+Enter");
    await page.getByText(/\[2\] ok/).waitFor();
    await keyboard.type("draft");
    await keyboard.press("ArrowUp");
    expect(await page.getByLabel("Python code").inputValue()).toBe("6 * 7");
    await keyboard.press("ArrowUp");
    expect(await page.getByLabel("Python code").inputValue()).toContain("range(2)");
    for (let step = 0; step < 3; step += 1) await keyboard.press("ArrowDown");
    expect(await page.getByLabel("Python code").inputValue()).toBe("draft");

    await page.getByRole("tab", { name: "Console" }).focus();
    await keyboard.press("ArrowRight");
    expect(await page.getByRole("tab", { name: "Files" }).getAttribute("aria-selected")).toBe("true");
    await page.getByText("No files here yet").waitFor();
    await page.getByRole("button", { name: "Stop lab" }).focus();
    await keyboard.press("Enter");
    await keyboard.press("Enter");
    await page.getByRole("list", { name: "Sessions" }).getByText("ended: stopped").waitFor();
    expect(faults).toEqual([]);
  },
  seconds,
);

browserTest(
  "code shows its output as it comes, errors apart, and what it displays",
  async () => {
    const seen = await open();
    const { page } = seen;
    await startSession(seen, "lab");
    const field = page.getByLabel("Python code");
    await field.fill(tellingEndless);
    await field.press("Control+Enter");
    await page.locator(".stdout", { hasText: "on" }).waitFor(); // while it runs
    await page.getByRole("list", { name: "Sessions" }).getByText("running").waitFor();
    await page.getByRole("button", { name: "Interrupt" }).click();
    await page.getByText(/\[1\] interrupted · /).waitFor();

    expect(await run(seen, "import sys\nprint('bad', file=sys.stderr)\n1 / 0")).toContain(
      "ZeroDivisionError: division by zero",
    );
    expect(await page.locator(".stderr").textContent()).toContain("bad");
    await run(
      seen,
      "class P:\n  def _repr_png_(self):\n    return __import__('base64').b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')\nP()",
    );
    expect(await page.evaluate("document.images[0].decode().then(() => document.images[0].naturalWidth)")).toBe(1);
    await run(seen, "class J:\n  def _repr_json_(self): return {'deep': {'er': [1, None]}}\nJ()");
    await page.locator(".json summary", { hasText: "deep" }).click();
    await page.locator(".json summary", { hasText: "er" }).click();
    await page.locator(".json .leaf", { hasText: "1: null" }).waitFor();
    await run(
      seen,
      "class H:\n  def _repr_html_(self): return '<table><tr><td style=\"color:red\">cell</td></tr></table>'\nH()",
    );
    await page.frameLocator("iframe").getByRole("cell", { name: "cell" }).waitFor();
    expect(await run(seen, "sys.stdout.write('x' * 3_000_000)")).toContain("Download the whole output");
    expect((await page.locator(".stdout").last().textContent())?.length).toBeLessThanOrEqual(200_000);
    expect(await run(seen, "import os; os.kill(os.getpid(), 9)")).toMatch(/SIGKILL.*dead/);
    await page.getByRole("list", { name: "Sessions" }).getByText("ended: signal").waitFor();
    expect(await field.isDisabled()).toBe(true);
    expect(seen.faults).toEqual([]);
  },
  seconds,
);

browserTest(
  "a session in which nothing can be written says so, and why",
  async () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "large"), new Uint8Array(2 ** 21));
    const config = writeConfig(scratchFolder(), ["uploads: { maxBytes: 1048576 }"]);
    const { url } = await serve(["--config", config, "--state", join(scratchFolder(), "s"), "--uploads", folder]);
    const seen = await see(await openBrowser(), url);
    await startSession(seen, "lab");
    await seen.page
      .locator(".facts", { hasText: "Restricted" })
      .getByText(/^When this sandbox started, \/app\/uploads held 2\d{6} bytes/)
      .waitFor();
    expect(seen.faults).toEqual([]);
  },
  seconds,
);

browserTest(
  "files are put, listed, fetched and deleted, variables listed, and the lease renewed",
  async () => {
    const seen = await open();
    const { page } = seen;
    await page.getByText("Lifetime").click();
    await page.getByLabel("Ends after", { exact: true }).selectOption("15 minutes");
    await startSession(seen, "lab");
    await run(
      seen,
      "import os\nos.makedirs('out/deep')\nopen('out/odd \"name\" #1?.txt', 'w').write('kept')\nanswer = 42",
    );
    await page.getByRole("tab", { name: "Files" }).click();
    await page.getByRole("button", { name: "out/" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download odd" }).click();
    expect(readFileSync(await (await download).path(), "utf8")).toBe("kept");
    await page
      .getByLabel("Upload")
      .setInputFiles({ name: "up.txt", mimeType: "text/plain", buffer: Buffer.from("up") });
    await page.getByRole("cell", { name: "up.txt", exact: true }).waitFor();
    await page.getByRole("button", { name: "Delete up.txt" }).click();
    await page.getByRole("button", { name: "Delete it? up.txt" }).click();
    await page.getByRole("cell", { name: "up.txt", exact: true }).waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Variables" }).click();
    await page.getByRole("row", { name: /answer int 42/ }).waitFor();

    const ends = page.locator(".facts time").nth(1);
    expect(await ends.textContent()).toMatch(/^1[45] min/);
    await page.getByRole("button", { name: "Renew" }).click();
    await page.locator(".facts", { hasText: "59 min" }).waitFor();
    expect(seen.faults).toEqual([]);
  },
  seconds,
);

browserTest(
  "leases are told with their clocks and limits, and the machine with what it enforces",
  async () => {
    const seen = await open();
    const { page } = seen;
    await startSession(seen, "lab");
    await page.getByRole("link", { name: "Leases" }).click();
    const row = page.getByRole("row", { name: /lab active/ });
    await row.waitFor();
    const [before = ""] = await row.getByText(/min \d+ s/).allTextContents();
    await expect
      .poll(
        () =>
          row
            .getByText(/min \d+ s/)
            .first()
            .textContent(),
        { timeout: 5_000 },
      )
      .not.toBe(before);
    expect(await row.textContent()).toContain("memory 1 GiB");
    await page.getByRole("link", { name: "Machine" }).click();
    await page.getByText("Code runs in sandboxes of bubblewrap.").waitFor();
    await page.getByRole("row", { name: /^pid-namespace/ }).waitFor({ timeout: 60_000 });
    expect(await page.getByRole("row", { name: /^seccomp/ }).textContent()).toContain("✓");
    expect(seen.faults).toEqual([]);
  },
  seconds,
);

browserTest(
  "a refusal is told with its cure, and a server that went away as well",
  async () => {
    const served = await serve(["--state", join(scratchFolder(), "s")]);
    const seen = await see(await openBrowser(), served.url);
    const { page } = seen;
    await startSession(seen, "lab");
    await page.getByLabel("Name of a new session").fill("lab");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    const alert = page.getByRole("alert");
    await alert.getByText(/lab/).waitFor();
    await alert.getByRole("button", { name: "Dismiss" }).click();
    await served.kill("SIGTERM");
    await alert.getByText("The server was not reached.").waitFor();
    expect(await run(seen, "1")).toContain("Ask for its outcome");
  },
  seconds,
);
