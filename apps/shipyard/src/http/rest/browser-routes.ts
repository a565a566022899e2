import { refused } from "./describe.js";
import { answer, type Route } from "./route.js";

const reason =
  "This server has no browser. Run code that fetches what you need, where the sandbox may reach it, or use a browser server of its own.";

/** The original's other half, which is not here. */
export function browserRoutes(): readonly Route[] {
  return (["GET", "POST", "PUT", "DELETE"] as const).map((method) => ({
    method,
    path: "/v1/browser/{path}",
    summary: "Not here",
    answers: { 501: refused("Always") },
    handle: () => answer(501, { error: reason, code: "BROWSER_NOT_SERVED" }),
  }));
}
