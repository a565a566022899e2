import { SessionError } from "@berth/code-sessions";
import { givenId } from "../calls.js";
import { stopSession } from "../session-object.js";
import { json, refused, sessionRefusals } from "./describe.js";
import type { RestParts } from "./parts.js";
import { answer, bodyOf, type Route } from "./route.js";
import * as schemas from "./schemas.js";
import { leaseBody, statusBody, variableBody } from "./to-wire.js";

const path = "/v1/sessions/{id}";

/** A session with all that is known of it. */
export function sessionRoutes(parts: RestParts): readonly Route[] {
  return [...setRoutes(parts), statusRoute(parts), ...actionRoutes(parts), renewRoute(parts)];
}

function setRoutes({ sessions, bodies }: RestParts): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/v1/sessions",
      summary: "Your living sessions, by id",
      answers: { 200: json("All of them", schemas.statuses) },
      handle: ({ owner }) => answer(200, { sessions: sessions.list(owner).map(statusBody) }),
    },
    {
      method: "POST",
      path: "/v1/sessions",
      summary: "Starts a session, with a lifetime and an idle limit of its own",
      body: { required: true, ...json("What it is to be", schemas.start) },
      answers: {
        201: json("The session", schemas.status),
        400: refused("Something given is not as it has to be"),
        409: refused("You have one of this id"),
        413: refused("The body is too large"),
        415: refused("Not application/json"),
        503: refused("No more sessions at once, or no sandbox can be started"),
      },
      async handle({ owner, request }) {
        const { session_id, ttl_ms, idle_ms } = await bodyOf(bodies, { request, owner }, schemas.start);
        const id = givenId(session_id);
        const session = await sessions.start({ owner, id, ttlMs: ttl_ms, idleMs: idle_ms });
        return answer(201, statusBody(session.status()), { location: `/v1/sessions/${session.id}` });
      },
    },
  ];
}

function statusRoute({ sessions }: RestParts): Route {
  return {
    method: "GET",
    path,
    summary: "One session; one that has ended is told of for a while, with its reason",
    answers: { 200: json("The session", schemas.status), 404: refused("You have and had no such session") },
    handle({ owner, params }) {
      const known = sessions.status(owner, params["id"] ?? "");
      if (known === undefined) throw new SessionError("SESSION_NOT_FOUND", "you have no such session");
      return answer(200, statusBody(known));
    },
  };
}

function actionRoutes({ sessions, onFault }: RestParts): readonly Route[] {
  return [
    {
      method: "DELETE",
      path,
      summary: "Stops a session; what runs in it is interrupted, and killed if that does not help",
      answers: { 200: json("What it was", schemas.legacySession), ...sessionRefusals },
      handle: async ({ owner, params }) =>
        answer(200, await stopSession(sessions.get(owner, params["id"] ?? ""), onFault)),
    },
    {
      method: "POST",
      path: `${path}/interrupt`,
      summary: "Interrupts the code that runs, as Ctrl-C would",
      answers: { 200: json("Whether anything ran", schemas.interrupted), ...sessionRefusals },
      handle: ({ owner, params }) => answer(200, { interrupted: sessions.get(owner, params["id"] ?? "").interrupt() }),
    },
    {
      method: "GET",
      path: `${path}/variables`,
      summary: "Names that the code has defined, also while code runs",
      answers: { 200: json("All of them", schemas.variables), ...sessionRefusals },
      async handle({ owner, params, request }) {
        const known = await sessions.get(owner, params["id"] ?? "").variables({ signal: request.signal });
        return answer(200, { variables: known.map(variableBody) });
      },
    },
  ];
}

function renewRoute({ sessions, bodies }: RestParts): Route {
  return {
    method: "POST",
    path: `${path}/renew`,
    summary: "Moves the end of the session's lease: never earlier, never past its ceiling",
    body: { required: true, ...json("From now on", schemas.renew) },
    answers: {
      200: json("The session, with the new generation of its lease", schemas.status),
      ...sessionRefusals,
      409: refused("The generation is no longer the lease's"),
      413: refused("The body is too large"),
      415: refused("Not application/json"),
    },
    async handle({ owner, params, request }) {
      const session = sessions.get(owner, params["id"] ?? "");
      const { ttl_ms, generation } = await bodyOf(bodies, { request, owner }, schemas.renew);
      const lease = await session.renew({ ttlMs: ttl_ms, generation });
      return answer(200, { ...statusBody(session.status()), lease: leaseBody(lease) });
    },
  };
}
