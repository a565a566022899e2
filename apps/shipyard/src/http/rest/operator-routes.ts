import type { LeaseRecord, LeaseState } from "@berth/environment-leases";
import { json, refused } from "./describe.js";
import type { RestParts } from "./parts.js";
import { answer, type Route } from "./route.js";
import { health, leases as leasesSchema, profiles as profilesSchema } from "./schemas.js";
import { leaseBody } from "./to-wire.js";
import type { HealthBody, ListedLeaseBody } from "./wire.js";

/** What is told of the server itself. */
export function operatorRoutes(parts: RestParts): readonly Route[] {
  return [healthRoute(parts), metricsRoute(parts), leasesRoute(parts), profilesRoute(parts)];
}

function healthRoute({ leases }: RestParts): Route {
  const state = (): HealthBody => {
    const { profiles } = leases;
    const isUp = profiles.length === 0 || profiles.some(({ refusal }) => refusal === undefined);
    // Why not is for operators: this route is everybody's.
    return { status: isUp ? "ok" : "unavailable" };
  };
  return {
    method: "GET",
    path: "/health",
    summary: "Whether sandboxes can be started",
    access: "public",
    answers: { 200: json("They can", health), 503: json("They cannot", health) },
    handle() {
      const told = state();
      return answer(told.status === "ok" ? 200 : 503, told);
    },
  };
}

const noLeases = { reserved: 0, active: 0, releasing: 0, released: 0, lost: 0 } as const satisfies Record<
  LeaseState,
  0
>;

function metricsRoute({ metrics, sessions, leases }: RestParts): Route {
  const type = "text/plain; version=0.0.4; charset=utf-8";
  return {
    method: "GET",
    path: "/metrics",
    summary: "Figures in the text form of Prometheus",
    access: "operator",
    answers: { 200: { description: "Text", content: { "text/plain": undefined } } },
    async handle() {
      const byState: Record<LeaseState, number> = { ...noLeases };
      for (const { state } of await leases.list()) byState[state] += 1;
      const restricted = sessions.listAll().filter(({ restriction }) => restriction !== undefined).length;
      const text = metrics.write({ counts: sessions.counts(), restricted, leases: byState });
      return new Response(text, { status: 200, headers: { "content-type": type } });
    },
  };
}

function leasesRoute({ leases, sessions }: RestParts): Route {
  const body = (lease: LeaseRecord, restriction: string | undefined): ListedLeaseBody => ({
    ...leaseBody(lease),
    owner: lease.owner,
    session: lease.labels["session"],
    restriction,
  });
  return {
    method: "GET",
    path: "/v1/leases",
    summary: "Your leases that have not ended; an operator sees everybody's, warm workers included",
    answers: { 200: json("In order of creation", leasesSchema) },
    async handle({ owner, isOperator }) {
      const known = await leases.list(isOperator ? {} : { owner });
      const living = known.filter(({ state }) => state !== "released" && state !== "lost");
      const restrictions = new Map(sessions.listAll().map(({ lease, restriction }) => [lease.id, restriction]));
      return answer(200, { leases: living.map((lease) => body(lease, restrictions.get(lease.id))) });
    },
  };
}

function profilesRoute({ leases }: RestParts): Route {
  return {
    method: "GET",
    path: "/v1/profiles",
    summary: "Kinds of sandboxes: whether they can be had now, whether they isolate, and what to do where they cannot",
    access: "operator",
    answers: { 200: json("All of them", profilesSchema), 403: refused("For operators") },
    handle: () => answer(200, { profiles: leases.profiles }),
  };
}
