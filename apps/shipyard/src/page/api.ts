import type { ExecuteBody, RefusalBody, StreamEventBody } from "../http/rest/wire.js";
import { createLineReader } from "./line-reader.js";

/** An answer that refuses, or none. Status 0: the server was not reached. */
export class ApiFault extends Error {
  override readonly name = "ApiFault";
  readonly status: number;
  readonly code: string | undefined;
  readonly cure: string | undefined;
  constructor(status: number, { error, code, cure, end }: RefusalBody) {
    super(end === undefined ? error : `${error} It ended: ${end.reason} (${end.detail}).`);
    this.status = status;
    this.code = code;
    this.cure = cure;
  }
}

/** The REST interface of this page's own server. */
export interface Api {
  /** @throws {ApiFault} as all of these. */
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: unknown): Promise<T>;
  remove(path: string): Promise<void>;
  put(path: string, content: Blob): Promise<void>;
  bytes(path: string): Promise<Blob>;
  /** Runs code and tells its output while it comes. The same key again gives the outcome, and runs nothing. */
  run(session: string, body: ExecuteBody, key: string, onEvent: (event: StreamEventBody) => void): Promise<void>;
  /** The server's wall clock, as its last answer told. */
  now(): number;
}

/** Below this, the difference is that of whole seconds. */
const minSkewMs = 2_000;

export function createApi(token: () => string | undefined, onUnauthorised: () => void): Api {
  let skewMs = 0;

  const send = async (method: string, path: string, body?: BodyInit, headers: Record<string, string> = {}) => {
    const known = token();
    const authorization: Record<string, string> = known === undefined ? {} : { authorization: `Bearer ${known}` };
    const response = await fetch(path, {
      ...{ method, headers: { ...headers, ...authorization }, cache: "no-store", redirect: "error" },
      ...(body === undefined ? {} : { body }),
    }).catch(() => {
      throw new ApiFault(0, {
        error: "The server was not reached.",
        cure: "Look whether it runs; this page asks again.",
      });
    });
    const skew = Date.parse(response.headers.get("date") ?? "") - Date.now();
    skewMs = Number.isNaN(skew) || Math.abs(skew) < minSkewMs ? 0 : skew;
    if (response.ok) return response;
    if (response.status === 401) onUnauthorised();
    throw new ApiFault(response.status, await refusalOf(response));
  };
  const json = { "content-type": "application/json" };

  return {
    get: async (path) => (await send("GET", path)).json(),
    post: async (path, body) => (await send("POST", path, JSON.stringify(body), json)).json(),
    remove: async (path) => void (await send("DELETE", path)),
    put: async (path, content) => {
      await send("PUT", path, content, { "content-type": "application/octet-stream" });
    },
    bytes: async (path) => (await send("GET", path)).blob(),
    async run(session, body, key, onEvent) {
      const headers = { ...json, accept: "application/x-ndjson", "idempotency-key": key };
      const response = await send("POST", `${sessionPath(session)}/execute`, JSON.stringify(body), headers);
      await readEvents(response, onEvent);
    },
    now: () => Date.now() + skewMs,
  };
}

async function refusalOf(response: Response): Promise<RefusalBody> {
  const text = await response.text().catch(() => "");
  try {
    const body: RefusalBody = JSON.parse(text);
    return body;
  } catch {
    return { error: `${response.status} ${text.slice(0, 200)}` }; // a proxy's, say
  }
}

async function readEvents(response: Response, onEvent: (event: StreamEventBody) => void): Promise<void> {
  const lost = new ApiFault(0, { error: "The connection broke; the code goes on." });
  const read = createLineReader();
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let isWhole = false;
  for (;;) {
    const piece = await reader?.read().catch(() => undefined);
    if (piece?.value !== undefined) {
      for (const line of read(piece.value)) {
        const event: StreamEventBody = JSON.parse(line);
        isWhole = event.kind === "outcome" || event.kind === "refused";
        onEvent(event);
      }
    }
    if (piece === undefined || piece.done) break;
  }
  if (!isWhole) throw lost;
}

export function sessionPath(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}`;
}

/** Paths of the workspace, whose names are whatever code made of them. */
export function filePath(session: string, path: string): string {
  return `${sessionPath(session)}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}
