import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

/** A page of a real browser, and what it did that it should not have. */
export interface Seen {
  readonly page: Page;
  /** Uncaught errors, refusals of its policy, dialogs. A test that expects some takes them out. */
  readonly faults: string[];
  /** Addresses that it asked for, `data:` and `blob:` aside. */
  readonly asked: readonly string[];
}

/** The one that is installed, so that nothing is downloaded. Root has no sandbox for it. */
export async function openBrowser(args: readonly string[] = []): Promise<Browser> {
  const root = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath: chromiumPath, args: [...root, ...args] });
  onTestFinished(() => browser.close());
  return browser;
}

const chromiumPath =
  (process.env["PATH"] ?? "")
    .split(":")
    .map((folder) => `${folder}/chromium`)
    .find((path) => existsSync(path)) ?? "chromium";

export async function see(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Seen> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const faults: string[] = [];
  const asked: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
  });
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!/^(?:data|blob):/.test(request.url())) asked.push(request.url());
  });
  await page.goto(url);
  return { page, faults, asked };
}

/** Starts a session by the form. */
export async function startSession({ page }: Seen, name: string): Promise<void> {
  await page.getByLabel("Name of a new session").fill(name);
  const answered = page.waitForResponse(
    (one) => one.request().method() === "POST" && one.url().endsWith("/v1/sessions"),
  );
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await answered;
  // One of that name that has ended may be there as well.
  await page.locator(".detail:visible", { hasText: "Ends in" }).getByRole("heading", { name, exact: true }).waitFor();
}

/** Runs code in the session that is shown, and gives the text of its run once it has ended. */
export async function run({ page }: Seen, code: string): Promise<string> {
  const cells = page.locator("article:visible");
  const before = await cells.count();
  const field = page.getByLabel("Python code").filter({ visible: true });
  await field.fill(code);
  await field.press("Control+Enter");
  const cell = cells.nth(before);
  await cell.locator(".end:not(.running)").waitFor();
  return (await cell.textContent()) ?? "";
}
