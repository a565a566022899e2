import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Served, serve } from "./support/served.js";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served[Symbol.asyncDispose]());

describe("what is not served", () => {
  it.each(["GET", "POST", "DELETE", "PATCH"])(
    "%s of an unknown path is 404 in the form of all refusals",
    async (method) => {
      const answer = await served.send("/v1/nothing/here", { method });
      expect(answer.status).toBe(404);
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(await answer.json()).toEqual({
        error: "there is nothing at this path",
        code: "ROUTE_NOT_FOUND",
        cure: expect.stringContaining("/openapi.json"),
      });
    },
  );

  it.each([
    { method: "PATCH", path: "/v1/sessions", allow: "GET, POST" },
    { method: "GET", path: "/execute", allow: "POST" },
    { method: "PUT", path: "/v1/sessions/session", allow: "POST, GET, DELETE" },
    { method: "POST", path: "/v1/sessions/a/files/x/y.txt", allow: "GET, PUT, DELETE" },
    { method: "POST", path: "/health", allow: "GET" },
  ])("$method of $path is 405 and says which methods there are", async ({ method, path, allow }) => {
    const answer = await served.send(path, { method });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, allow]);
    expect(await answer.json()).toEqual({
      error: "this path has no such method",
      code: "METHOD_NOT_ALLOWED",
      cure: `it has ${allow}`,
    });
  });
});
