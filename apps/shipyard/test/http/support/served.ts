import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSessions, type Sessions, type SessionsOptions } from "@berth/code-sessions";
import { createLeases, createMemoryLeaseStore, createUnconfinedProvider, type Leases } from "@berth/environment-leases";
import { createDoors, type Doors } from "../../../src/http/doors.js";
import type { DoorsParts } from "../../../src/http/parts.js";
import { type Described, readDescription } from "./described.js";

/** Doors over real sessions of processes without a sandbox: what is served does not depend on what confines it. */
export interface Served extends AsyncDisposable {
  readonly doors: Doors;
  readonly sessions: Sessions;
  readonly leases: Leases;
  readonly faults: readonly unknown[];
  /** Every answer but those of `/mcp` is held against it. */
  readonly described: Described;
  /** A request to this server by a path, as a client on this machine sends it. */
  send(path: string, init?: RequestInit & { readonly duplex?: "half" }): Promise<Response>;
  /** A JSON request by POST, and its JSON answer. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  delete(path: string): Promise<Answered>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it as they like.
  readonly json: any;
}

export interface ServedOptions {
  readonly sessions?: Omit<Partial<SessionsOptions>, "leases">;
  readonly doors?: Partial<DoorsParts>;
}

export async function serve(options: ServedOptions = {}): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), "berth-doors-"));
  const faults: unknown[] = [];
  const onFault = (fault: unknown): void => void faults.push(fault);
  const provider = await createUnconfinedProvider({ folder });
  const profile = {
    provider: "unconfined",
    template: "python3",
    policy: { network: "internet", elevation: true },
  } as const;
  const leases = await createLeases({
    store: createMemoryLeaseStore(),
    providers: [provider],
    profiles: { python: profile },
    allowUnconfined: true,
    limits: { maxPerOwner: 16 },
    onFault,
  });
  const sessions = createSessions({ leases, profile: "python", onFault, ...options.sessions });
  const doors = createDoors({ version: "0.0.0", sessions, leases, onFault, ...options.doors });

  const descriptionAsked = new Request("http://localhost/openapi.json", { headers: { host: "localhost" } });
  const text = await (await doors.fetch(descriptionAsked)).json();
  // The page's files are no part of the interface.
  const described = readDescription(text, options.doors?.pageFolder === undefined ? [403, 404] : [200, 403, 404]);
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers({ host: "localhost:8222" });
    new Headers(init.headers).forEach((value, name) => {
      headers.set(name, value);
    });
    const request = new Request(`http://localhost:8222${path}`, { ...init, headers });
    const response = await doors.fetch(request);
    if (path.startsWith("/mcp")) return response;
    // The stream is read here to its end, and given on whole.
    const bytes = await response.clone().arrayBuffer();
    await described.check(request, new Response(response.status === 204 ? null : bytes, response));
    return response;
  };
  const answered = async (response: Response): Promise<Answered> => {
    const text = await response.text();
    const isJson = response.headers.get("content-type") === "application/json";
    return { status: response.status, headers: response.headers, json: isJson ? JSON.parse(text) : text };
  };
  const close = async (): Promise<void> => {
    await doors.close();
    await sessions.close();
    await leases.close();
    await provider.close();
    await rm(folder, { recursive: true, force: true });
  };
  return {
    doors,
    sessions,
    leases,
    faults,
    described,
    send,
    post: async (path, body, headers = {}) => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const all = { "content-type": "application/json", ...headers };
      return answered(await send(path, { method: "POST", body: text, headers: all }));
    },
    get: async (path, headers = {}) => answered(await send(path, { headers })),
    delete: async (path) => answered(await send(path, { method: "DELETE" })),
    [Symbol.asyncDispose]: close,
  };
}
