import { idempotencyKey, json, refused, sessionRefusals } from "./describe.js";
import { openOutputStream, type StreamForm, wantedStream } from "./output-stream.js";
import type { RestParts } from "./parts.js";
import { toRefusal } from "./refusals.js";
import { answer, bodyOf, type Route, type RouteCall } from "./route.js";
import { execute, outcome, streamEvent } from "./schemas.js";
import { outcomeBody } from "./to-wire.js";
import type { ExecuteBody } from "./wire.js";

const answers = {
  200: {
    description:
      "What became of the code; with `Accept: text/event-stream` or `application/x-ndjson` its output while it runs",
    content: {
      "application/json": outcome,
      "text/event-stream": streamEvent,
      "application/x-ndjson": streamEvent,
    },
  },
  ...sessionRefusals,
  409: refused("The call was taken back before it ran"),
  413: refused("More code than is run at once"),
  415: refused("Not application/json"),
  422: refused("The key stands for other code"),
  429: refused("Too many calls wait in the session"),
  503: refused("Too many calls wait, or no sandbox can be started"),
};

/** Code with everything that is known of its outcome, at once or while it runs. */
export function executeRoutes(parts: RestParts): readonly Route[] {
  const run = async (call: RouteCall): Promise<Response> => {
    const body = await bodyOf(parts.bodies, call, execute);
    const form = wantedStream(call.request.headers.get("accept"));
    if (form !== undefined) return stream(parts, call, body, form);
    return answer(200, outcomeBody(await parts.runCode(codeCall(call, body))));
  };
  const shared = { parameters: [idempotencyKey], body: { required: true, ...json("The code", execute) }, answers };
  return [
    {
      method: "POST",
      path: "/v1/execute",
      summary: "Runs Python code in a fresh process",
      ...shared,
      handle: run,
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/execute",
      summary: "Runs Python code in a session",
      ...shared,
      handle: run,
    },
  ];
}

function codeCall({ owner, params, request }: RouteCall, { code, timeout_ms, colours }: ExecuteBody) {
  const key = request.headers.get("idempotency-key") ?? undefined;
  const session = params["id"];
  return { owner, session, door: "rest", code, timeoutMs: timeout_ms, colours, idempotencyKey: key } as const;
}

/** Refusals that are known before the code runs come as events too: the status has been sent by then. */
function stream(
  { runCode, terms, onFault }: RestParts,
  call: RouteCall,
  body: ExecuteBody,
  form: StreamForm,
): Response {
  const stream = openOutputStream(form, terms.maxUnreadBytes);
  const run = async (): Promise<void> => {
    try {
      const known = await runCode({ ...codeCall(call, body), onOutput: stream.onOutput });
      stream.end({ kind: "outcome", outcome: outcomeBody(known), events_dropped: stream.dropped });
    } catch (fault) {
      const refusal = toRefusal(fault);
      if (refusal === undefined) onFault(fault);
      stream.end({ kind: "refused", refusal: refusal?.body ?? { error: "internal error" } });
    }
  };
  void run();
  return stream.response;
}
