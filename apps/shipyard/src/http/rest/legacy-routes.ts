import { isSessionError, type SessionErrorCode } from "@berth/code-sessions";
import { BodyRefusal, NotJson } from "@berth/command-line/http";
import { absentText, givenId, isAbsent } from "../calls.js";
import { outcomeText } from "../outcome-text.js";
import { sessionObject, stopSession } from "../session-object.js";
import { unavailability } from "../unavailability.js";
import { idempotencyKey, json, refused } from "./describe.js";
import type { RestParts } from "./parts.js";
import { answer, check, type Route, type RouteCall } from "./route.js";
import { legacyExecute, legacyId, legacyOutcome, legacySession, legacySessions } from "./schemas.js";
import type { LegacyExecute, LegacyOutcome } from "./wire.js";

const sessionPath = "/v1/sessions/session";
const bySession = { in: "query", name: "session_id", description: "The session" } as const;

/** The routes of the original, answering as it does. */
export function legacyRoutes(parts: RestParts): readonly Route[] {
  return [executeRoute(parts), startRoute(parts), readRoute(parts), stopRoute(parts)];
}

function executeRoute({ runCode, bodies, now, onFault }: RestParts): Route {
  const run = async (call: RouteCall): Promise<Response> => {
    const begun = now();
    const told = (status: number, fields: Pick<LegacyOutcome, "stdout" | "stderr">): Response => {
      const seconds = status === 400 ? 0 : (now() - begun) / 1_000;
      return answer(status, { ...fields, execution_time: seconds, cpu_time: seconds });
    };
    let body: LegacyExecute;
    try {
      body = check((await bodies.json(call.request, call.owner)) ?? {}, legacyExecute);
    } catch (fault) {
      if (!(fault instanceof BodyRefusal)) throw fault;
      // The original fails with 500 at what is no JSON; its clients know that.
      const status = fault instanceof NotJson ? 500 : fault.status;
      return told(status, { stdout: "", stderr: `Error: ${fault.message}` });
    }
    const code = [body.code, body.command].find((text) => typeof text === "string" && text !== "");
    if (typeof code !== "string") return told(400, { stdout: "", stderr: "Error: No code provided" });
    const session = givenId(body.session_id);
    try {
      const key = call.request.headers.get("idempotency-key") ?? undefined;
      const outcome = await runCode({ owner: call.owner, session, door: "rest", code, idempotencyKey: key });
      const { shown, fault } = outcomeText(outcome);
      return told(200, { stdout: shown, stderr: fault });
    } catch (fault) {
      if (session !== undefined && isAbsent(fault))
        return told(200, { stdout: "", stderr: absentText(session, fault) });
      const unavailable = unavailability(fault);
      if (unavailable !== undefined)
        return told(503, { stdout: "", stderr: `Error: ${unavailable.error}: ${unavailable.cure}` });
      if (!isSessionError(fault)) {
        onFault(fault);
        return told(500, { stdout: "", stderr: "Error: internal error" });
      }
      return told(fault.code === "CODE_TOO_LARGE" ? 413 : 200, { stdout: "", stderr: `Error: ${fault.message}` });
    }
  };
  return {
    method: "POST",
    path: "/execute",
    summary: "Runs Python code, in a session or in a fresh process",
    parameters: [idempotencyKey],
    body: { required: true, ...json("`code` or `command`; `language` and `timeout` are ignored", legacyExecute) },
    answers: {
      200: json("Also for code that failed: then `stderr` begins with `Error:`", legacyOutcome),
      400: json("No code", legacyOutcome),
      413: json("More code than is run at once", legacyOutcome),
      500: json("The body is not JSON, or a fault of the server", legacyOutcome),
      503: json("Too many bodies are being read, or nothing can be recorded now", legacyOutcome),
    },
    handle: run,
  };
}

const startStatus: Partial<Record<SessionErrorCode, number>> = { SESSION_EXISTS: 409, SESSION_ID_INVALID: 400 };

function startRoute({ sessions, bodies }: RestParts): Route {
  return {
    method: "POST",
    path: sessionPath,
    summary: "Starts a session",
    body: { required: false, ...json("May be left out", legacyId) },
    answers: {
      201: json("The session", legacySession),
      400: refused("Not JSON, or no id"),
      409: refused("There is one of this id"),
      413: refused("The body is too large"),
      503: refused("No more sessions at once, or no sandbox can be started"),
    },
    async handle({ request, owner }) {
      const { session_id } = check((await bodies.json(request, owner)) ?? {}, legacyId);
      try {
        const session = await sessions.start({ owner, id: givenId(session_id) });
        return answer(201, sessionObject(session.status(), "active"));
      } catch (fault) {
        if (!isSessionError(fault) || unavailability(fault) !== undefined) throw fault;
        const { message: error, code, cure } = fault;
        return answer(startStatus[code] ?? 503, { error, code, cure });
      }
    },
  };
}

function readRoute({ sessions }: RestParts): Route {
  return {
    method: "GET",
    path: sessionPath,
    summary: "One session, or the living ones by id",
    parameters: [bySession],
    answers: {
      200: { description: "One, or all", content: { "application/json": legacySession.or(legacySessions) } },
      404: refused("There is none"),
    },
    handle({ owner, query }) {
      const id = givenId(query.get("session_id"));
      if (id === undefined) {
        return answer(200, { sessions: sessions.list(owner).map((status) => sessionObject(status, "active")) });
      }
      try {
        return answer(200, sessionObject(sessions.get(owner, id).status(), "active"));
      } catch (fault) {
        return absent(fault, id);
      }
    },
  };
}

function stopRoute({ sessions, bodies, onFault }: RestParts): Route {
  return {
    method: "DELETE",
    path: sessionPath,
    summary: "Stops a session",
    parameters: [bySession],
    body: { required: false, ...json("In place of the parameter", legacyId) },
    answers: {
      200: json("What it was", legacySession),
      400: refused("No id, or not JSON"),
      404: refused("There is none"),
      413: refused("The body is too large"),
    },
    async handle({ owner, query, request }) {
      const named = givenId(query.get("session_id"));
      const body = named === undefined ? await bodies.json(request, owner) : undefined;
      const id = named ?? givenId(check(body ?? {}, legacyId).session_id);
      if (id === undefined) return answer(400, { error: "session_id is missing" });
      try {
        return answer(200, await stopSession(sessions.get(owner, id), onFault));
      } catch (fault) {
        return absent(fault, id);
      }
    },
  };
}

function absent(fault: unknown, id: string): Response {
  if (!isAbsent(fault)) throw fault;
  return answer(404, { error: `Session '${id.slice(0, 64)}' not found.` });
}
