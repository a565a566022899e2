import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import {
  ask,
  type Served,
  scratchFolder,
  serve,
  tokenFor,
  tokenHeaders,
  unconfined,
  writeConfig,
} from "../shipyard.js";
import { openBrowser, run, see, startSession } from "./support/browser.js";

const browserTest = partTest("chromium");
const seconds = 60_000;

interface Place {
  readonly folder: string;
  readonly args: (...lines: readonly string[]) => readonly string[];
}

function place(): Place {
  const folder = scratchFolder();
  const args = (...lines: readonly string[]) => [
    ...["--config", writeConfig(folder, [...unconfined, ...lines])],
    ...["--state", join(folder, "s")],
  ];
  return { folder, args };
}

/** Statuses of the page's files and routes. */
async function statuses({ url }: Served, headers: Record<string, string> = {}): Promise<readonly number[]> {
  const paths = ["/", "/page.js", "/page.css", "/v1/page", "/v1/page/machine"];
  return Promise.all(paths.map(async (path) => (await fetch(url + path, { headers })).status));
}

describe("who may use the page", () => {
  it("is local without authentication, and nobody where the configuration says so", async () => {
    const on = await serve(place().args());
    expect(await statuses(on)).toEqual([200, 200, 200, 200, 200]);
    const described = await ask(`${on.url}/openapi.json`, undefined);
    expect(described.body).toHaveProperty(["paths", "/v1/page"]);
    for (const principals of ["[]", "[ada]"]) {
      const off = await serve(place().args(`page: { principals: ${principals} }`));
      expect(await statuses(off)).toEqual([404, 404, 404, 404, 404]);
      expect((await ask(`${off.url}/openapi.json`, undefined)).body).not.toHaveProperty(["paths", "/v1/page"]);
      expect((await ask(`${off.url}/execute`, { code: "1" })).status).toBe(200);
    }
  }, 60_000);

  it("is the operators with authentication, or whoever is named; to all others its routes are not there", async () => {
    const { folder, args } = place();
    const file = join(folder, "tokens.jsonl");
    const [ada, bob] = [await tokenHeaders("ada", file), await tokenHeaders("bob", file)];
    const byRole = await serve(args(`auth: { tokenFile: ${file}, operators: [ada] }`));
    expect(await statuses(byRole)).toEqual([200, 200, 200, 401, 401]);
    expect(await statuses(byRole, ada)).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses(byRole, bob)).toEqual([200, 200, 200, 404, 404]);
    await byRole.kill("SIGTERM");
    const byName = await serve(args(`auth: { tokenFile: ${file}, operators: [ada] }`, "page: { principals: [bob] }"));
    expect((await statuses(byName, ada)).slice(3)).toEqual([404, 404]);
    expect((await statuses(byName, bob)).slice(3)).toEqual([200, 200]);
    await byName.kill("SIGTERM");
    const nobody = await serve(args(`auth: { tokenFile: ${file} }`));
    expect(await statuses(nobody, ada)).toEqual([404, 404, 404, 404, 404]);
  }, 60_000);

  browserTest(
    "signs in with a token, which is kept in the tab alone and never in an address",
    async () => {
      const { folder, args } = place();
      const file = join(folder, "tokens.jsonl");
      const [ada, bob] = [await tokenFor("ada", file), await tokenFor("bob", file)];
      const served = await serve(args(`auth: { tokenFile: ${file}, operators: [ada] }`));
      const seen = await see(await openBrowser(), served.url);
      const { page } = seen;
      const signIn = async (token: string): Promise<void> => {
        await page.getByLabel("Token").fill(token);
        await page.getByRole("button", { name: "Sign in" }).click();
      };
      await signIn("nonsense");
      await page.getByText("This token is not, or no longer, good here.").waitFor();
      await signIn(bob);
      await page.getByText("This token's principal may not use the page").waitFor();
      await signIn(ada);
      await page.getByText("ada (operator)").waitFor();
      await startSession(seen, "lab");
      expect(await run(seen, "6 * 7")).toContain("42");
      await page.reload();
      await page.getByText("ada (operator)").waitFor();
      expect(await page.evaluate("document.cookie + JSON.stringify({ ...localStorage })")).toBe("{}");
      expect(seen.asked.join()).not.toContain(ada);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Token").waitFor();
      expect(await page.evaluate("JSON.stringify({ ...sessionStorage })")).toBe("{}");
    },
    seconds,
  );
});

describe("a page of another origin", () => {
  browserTest(
    "starts nothing by a form, a fetch without leave, a beacon, or under a name of its own",
    async () => {
      const { folder, args } = place();
      const served = await serve(args());
      const { port } = new URL(served.url);
      const planted = join(folder, "planted");
      const code = `open(${JSON.stringify(planted)}, 'w')`;
      const foreign = createServer((_request, response) => {
        response.setHeader("content-type", "text/html");
        response.end("<!doctype html><title>foreign</title>");
      });
      await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void foreign.close());
      const address = foreign.address();
      const foreignPort = typeof address === "object" && address !== null ? address.port : 0;
      const browser = await openBrowser(["--host-resolver-rules=MAP *.example.test 127.0.0.1"]);
      // `localhost` has an Origin that is served: what its pages may do is decided by what the browser says of them.
      for (const from of [`http://evil.example.test:${foreignPort}`, `http://localhost:${foreignPort}`]) {
        for (const target of [
          `http://127.0.0.1:${port}`,
          `http://localhost:${port}`,
          `http://rebound.example.test:${port}`,
        ]) {
          const { page } = await see(browser, from);
          await page.evaluate(attack(target, code));
          await page.waitForFunction("globalThis.settled === true");
          const reached = await page.evaluate("globalThis.reached");
          expect(reached, `${from} → ${target}`).toEqual([]);
          await page.evaluate(form(target, code));
          await page.waitForURL(`${target}/execute`);
          expect(await page.content()).toMatch(/another origin|not served|not allowed/);
          await page.context().close();
        }
      }
      const rebound = await see(browser, `http://rebound.example.test:${port}/`);
      expect(await rebound.page.content()).toContain("this Host is not served here");
      expect(existsSync(planted)).toBe(false);
      expect((await ask(`${served.url}/v1/sessions`, undefined)).body).toEqual({ sessions: [] });
      // The same code does that when it is asked for by a program.
      await ask(`${served.url}/execute`, { code });
      expect(existsSync(planted)).toBe(true);
    },
    seconds,
  );
});

/** Everything a page can send without leave; what could be read of the answers is kept. */
function attack(target: string, code: string): string {
  const body = JSON.stringify(JSON.stringify({ code }));
  return `(async () => {
    globalThis.reached = [];
    const tries = [
      ["POST", "/execute", { mode: "no-cors", headers: { "content-type": "text/plain" }, body: ${body} }],
      ["POST", "/execute", { headers: { "content-type": "application/json" }, body: ${body} }],
      ["POST", "/v1/execute", { mode: "no-cors", headers: { "content-type": "text/plain" }, body: ${body} }],
      ["POST", "/v1/sessions", { headers: { "content-type": "application/json" }, body: "{}" }],
      ["POST", "/v1/sessions/session", { mode: "no-cors", body: "{}" }],
      ["POST", "/mcp", { mode: "no-cors", body: "{}" }],
      ["PUT", "/v1/sessions/a/files/b", { body: "x" }],
      ["DELETE", "/v1/sessions/a", {}],
      ["GET", "/v1/sessions", {}],
      ["GET", "/v1/page", {}],
    ];
    for (const [method, path, options] of tries) {
      const answer = await fetch(${JSON.stringify(target)} + path, { method, ...options }).catch(() => undefined);
      if (answer !== undefined && answer.type !== "opaque") globalThis.reached.push(method + " " + path);
    }
    navigator.sendBeacon(${JSON.stringify(target)} + "/execute", ${body});
    globalThis.settled = true;
  })()`;
}

/** A form whose one field reads as JSON. */
function form(target: string, code: string): string {
  const name = JSON.stringify({ code, x: "" }).slice(0, -2);
  return `(() => {
    const form = document.createElement("form");
    Object.assign(form, { method: "post", action: ${JSON.stringify(`${target}/execute`)}, enctype: "text/plain" });
    const field = document.createElement("input");
    Object.assign(field, { name: ${JSON.stringify(name)}, value: '"}' });
    form.append(field);
    document.body.append(form);
    setTimeout(() => form.submit()); // once this was evaluated, since the page is left by it
  })()`;
}
