import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { scratchFolder, serve, unconfined, writeConfig } from "../shipyard.js";
import { openBrowser, run, type Seen, see, startSession } from "./support/browser.js";

const browserTest = partTest("chromium");
const seconds = 60_000;

/** A server that hears whatever reaches out. */
async function listenFor(): Promise<{ readonly url: string; readonly heard: string[] }> {
  const heard: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    heard.push(url);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, heard };
}

async function open(): Promise<Seen> {
  const folder = scratchFolder();
  const { url } = await serve(["--config", writeConfig(folder, unconfined), "--state", join(folder, "s")]);
  return see(await openBrowser(), url);
}

/** A display of one form. */
const shows = (method: string, text: string): string =>
  `class Shown:\n  def ${method}(self): return ${JSON.stringify(text)}\nShown()`;

/** Whether anything of the page's own world was changed. */
const isTouched = "typeof globalThis.pwned !== 'undefined' || document.title !== 'Berth Shipyard'";

browserTest(
  "text of a sandbox is text wherever it is shown: output, tracebacks, names, values, files",
  async () => {
    const seen = await open();
    const { page } = seen;
    const { url, heard } = await listenFor();
    const markup = `<img src=${url}/img onerror="globalThis.pwned=1"></script><script>globalThis.pwned=1</script><a href="javascript:globalThis.pwned=1">x</a>`;
    await startSession(seen, "lab");
    const literal = JSON.stringify(markup);
    expect(await run(seen, `print(${literal})`)).toContain(markup);
    expect(await run(seen, `import sys; print(${literal}, file=sys.stderr)`)).toContain(markup);
    expect(await run(seen, `raise ValueError(${literal})`)).toContain(markup);
    expect(await run(seen, `${literal}`)).toContain(markup);
    expect(await run(seen, shows("_repr_json_", JSON.stringify({ [markup]: markup })))).toContain("<img");
    expect(await run(seen, shows("_repr_markdown_", markup))).toContain("<img");
    expect(await run(seen, shows("_repr_png_", markup))).toContain("Shown");
    await run(seen, `open(${JSON.stringify(`<img src=x onerror="pwned=1">.txt`)}, 'w').close()\nvalue = ${literal}`);
    await page.getByRole("tab", { name: "Files" }).click();
    await page.getByRole("cell", { name: '<img src=x onerror="pwned=1">.txt', exact: true }).waitFor();
    await page.getByRole("tab", { name: "Variables" }).click();
    await page
      .getByRole("row", { name: /^value str/ })
      .getByText("<img src=")
      .waitFor();
    expect(await page.locator("main img, main script, main a").count()).toBe(0);
    expect(await page.evaluate(isTouched)).toBe(false);
    expect(heard).toEqual([]);
    expect(seen.faults).toEqual([]);
  },
  seconds,
);

browserTest(
  "a picture runs nothing and asks nobody",
  async () => {
    const seen = await open();
    const { url, heard } = await listenFor();
    await startSession(seen, "lab");
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" onload="parent.pwned=1"><script>parent.pwned=1;fetch("${url}/svg")</script><image href="${url}/image" width="9" height="9"/><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="${url}/frame"/></foreignObject></svg>`;
    await run(seen, shows("_repr_svg_", svg));
    await seen.page.evaluate("document.images[0].decode()");
    expect(await seen.page.evaluate("document.images[0].naturalWidth")).toBe(10);
    expect(await seen.page.evaluate(isTouched)).toBe(false);
    expect(heard).toEqual([]);
    expect(seen.faults).toEqual([]);
  },
  seconds,
);

browserTest(
  "HTML is in a frame that runs nothing, reaches neither the page nor anything else, and leads nowhere",
  async () => {
    const seen = await open();
    const { page, faults } = seen;
    const { url, heard } = await listenFor();
    await startSession(seen, "lab");
    const html = [
      `<script>parent.pwned = top.pwned = 1; fetch("${url}/fetch"); fetch("/v1/sessions")</script>`,
      `<img src="${url}/img" onerror="parent.pwned=1"><link rel="stylesheet" href="${url}/css">`,
      `<style>@import "${url}/import"; body { background: url(${url}/background) }</style>`,
      `<meta http-equiv="refresh" content="0;url=${url}/refresh"><base href="${url}/" target="_top">`,
      `<iframe src="${url}/inner"></iframe><object data="${url}/object"></object><video src="${url}/video" autoplay></video>`,
      `<form action="${url}/form" method="post"><button>send</button></form>`,
      `<a href="${url}/top" target="_top">top</a><a href="${url}/blank" target="_blank">blank</a><a href="${url}/self" target="_self">self</a>`,
      `<a href="javascript:parent.pwned=1" target="_self">js</a>`,
    ].join("\n");
    await run(seen, shows("_repr_html_", html));
    const frame = page.frameLocator("iframe.frame");
    await frame.getByText("self").waitFor();
    expect(await page.locator("iframe.frame").getAttribute("sandbox")).toBe("");
    for (const name of ["top", "blank", "js", "send"]) await frame.getByText(name, { exact: true }).click();
    const pages = page.context().pages().length;
    await frame.getByText("self", { exact: true }).click();
    await page.getByRole("heading", { name: "lab" }).waitFor(); // still here
    expect(await run(seen, "'still works'")).toContain("still works");
    expect(await page.evaluate(isTouched)).toBe(false);
    expect(pages).toBe(1);
    expect(heard).toEqual([]);
    expect(faults.filter((fault) => fault.startsWith("dialog"))).toEqual([]);
    // Each was refused by the frame's sandbox or by the policy that it inherits, not by luck.
    const refusals = faults.join("\n");
    for (const name of ["img'", "css'", "import'", "background'", "video'", "object'", "blank'", "form'", "'"])
      expect(refusals, name).toContain(`'${url}/${name}`);
    expect(refusals).toContain("'allow-scripts'");
  },
  seconds,
);

browserTest(
  "the page's own policy turns no text into markup, and runs no text",
  async () => {
    const { page, asked } = await open();
    const { origin } = new URL(page.url());
    for (const attempt of [
      "document.body.innerHTML = '<b>x</b>'",
      "document.createElement('iframe').srcdoc = 'x'",
      "document.createElement('script').text = 'x'",
      "eval('1')",
      "new Function('return 1')()",
      "trustedTypes.createPolicy('any', { createHTML: (text) => text })",
    ]) {
      // In a task of its own (the timer waits for nothing), since what a debugger evaluates is exempt from the policy.
      const later = `new Promise((done, failed) => setTimeout(() => { try { done(${attempt}) } catch (fault) { failed(fault) } }))`;
      await expect(page.evaluate(later), attempt).rejects.toThrow();
    }
    expect(asked.every((address) => new URL(address).origin === origin)).toBe(true);
  },
  seconds,
);
