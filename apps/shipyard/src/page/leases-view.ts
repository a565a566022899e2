import type { ListedLeaseBody, StatusBody } from "../http/rest/wire.js";
import { limitText } from "./clock.js";
import { element } from "./dom.js";
import { ceilingAt, endsAt, idleEndsAt } from "./lease-clocks.js";
import { table } from "./table.js";

export interface LeasesView {
  readonly node: HTMLElement;
  update(leases: readonly ListedLeaseBody[], sessions: readonly StatusBody[], now: number): void;
}

/** Leases that have not ended: one's own, or everybody's for an operator. */
export function createLeasesView(isOperator: boolean): LeasesView {
  const whose = isOperator
    ? "Everybody's leases that have not ended, warm workers included."
    : "Your leases that have not ended.";
  const list = element("div", {});
  return {
    node: element("section", {}, element("h2", {}, "Leases"), element("p", { class: "hint" }, whose), list),
    update(leases, sessions, now) {
      if (leases.length === 0) {
        const empty = "Nothing is leased. A session, or code that runs without one, has a lease as long as it lives.";
        list.replaceChildren(element("p", { class: "empty" }, empty));
        return;
      }
      const byLease = new Map(sessions.map((status) => [status.lease.id, status]));
      const columns = [
        "Lease",
        ...(isOperator ? ["Owner"] : []),
        "For",
        "State",
        "Profile",
        "Ends in",
        "At the latest in",
        "Unused, ends in",
        "Limits",
      ];
      list.replaceChildren(
        table(
          "Leases",
          columns,
          leases.map((lease) => row(lease, byLease.get(lease.id), isOperator, now)),
        ),
      );
    },
  };
}

function row(
  lease: ListedLeaseBody,
  status: StatusBody | undefined,
  isOperator: boolean,
  now: number,
): readonly (string | Node)[] {
  const owner = lease.owner === undefined ? "nobody yet" : lease.owner;
  const use = lease.session ?? (lease.owner === undefined ? "warm worker" : "code without a session");
  const limits = status?.enforced.map(({ limit, value, by }) =>
    element("li", { title: `held by ${by}` }, limitText(limit, value)),
  );
  return [
    element("code", { title: `${lease.id}, generation ${lease.generation}` }, lease.id.slice(0, 8)),
    ...(isOperator ? [owner] : []),
    use,
    status?.busy === true ? `${lease.state}, running` : lease.state,
    `${lease.profile} (${lease.provider})`,
    endsAt(lease, now),
    lease.owner === undefined ? "–" : ceilingAt(lease, now),
    idleEndsAt(lease, status, now),
    limits === undefined ? "–" : element("ul", { class: "chips" }, ...limits),
  ];
}
