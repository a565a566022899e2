import type { PageParts } from "../parts.js";
import { json, refused } from "./describe.js";
import { answer, type Route, type RouteCall } from "./route.js";
import { machine, pageUser } from "./schemas.js";
import type { MachineBody, PageUserBody } from "./wire.js";

/** What only the page asks; not there where nobody may use it, nor for whoever may not. */
export function pageRoutes(page: PageParts | undefined, version: string): readonly Route[] {
  if (page === undefined) return [];
  const forItsUsers = (handle: (call: RouteCall) => Promise<Response> | Response) => (call: RouteCall) =>
    page.mayUse(call.owner) ? handle(call) : answer(404, { error: "the page is not for this principal" });
  const user = ({ owner, isOperator }: RouteCall): PageUserBody => ({
    principal: owner,
    operator: isOperator,
    version,
    isolated: page.isolated,
    provider: page.provider,
    uploads: page.uploads,
    profiles: page.profiles,
  });
  const findings = async (): Promise<MachineBody> => {
    const { checks, at } = await page.machine();
    return { checked_at: new Date(at).toISOString(), checks };
  };
  const none = refused("The page is not for you");
  return [
    {
      method: "GET",
      path: "/v1/page",
      summary: "Who you are to the page, and what sessions run in",
      answers: { 200: json("You may use it", pageUser), 404: none },
      handle: forItsUsers((call) => answer(200, user(call))),
    },
    {
      method: "GET",
      path: "/v1/page/machine",
      summary: "What this machine enforces, found by trying; kept for ten minutes",
      answers: { 200: json("What was found", machine), 404: none },
      handle: forItsUsers(async () => answer(200, await findings())),
    },
  ];
}
