import type { ListedLeaseBody, PageUserBody, StatusBody } from "../http/rest/wire.js";
import { type Api, ApiFault } from "./api.js";
import { setClocks } from "./clocks.js";
import { byId, element } from "./dom.js";
import { createLeasesView } from "./leases-view.js";
import { createMachineView } from "./machine-view.js";
import { dropFault, tellFault } from "./notices.js";
import { createPoll } from "./poll.js";
import { createSessionsView } from "./sessions-view.js";
import { openViews } from "./views.js";

const everyMs = 2_000;
const tickMs = 1_000;

/** The three views, of which one is seen, kept up to date until they are closed. */
export interface Workspace {
  readonly node: HTMLElement;
  close(): void;
}

export function openWorkspace(api: Api, user: PageUserBody): Workspace {
  const sessions = createSessionsView(api, () => poll.soon());
  const leases = createLeasesView(user.operator);
  const machine = createMachineView(api, user);
  const views = [
    { name: "sessions", title: "Sessions", node: sessions.node },
    { name: "leases", title: "Leases", node: leases.node },
    { name: "machine", title: "Machine", node: machine.node },
  ];
  const node = element("div", {}, ...views.map((view) => view.node));
  let lost: ApiFault | undefined;

  const refresh = async (): Promise<void> => {
    try {
      const { sessions: living } = await api.get<{ readonly sessions: readonly StatusBody[] }>("/v1/sessions");
      await sessions.update(living);
      const { leases: leased } = await api.get<{ readonly leases: readonly ListedLeaseBody[] }>("/v1/leases");
      leases.update(leased, living, api.now());
      if (lost !== undefined) dropFault(lost);
      lost = undefined;
    } catch (fault) {
      if (fault instanceof ApiFault && fault.status === 401) return; // the sign-in says it
      if (fault instanceof ApiFault && fault.status === 0) lost = fault;
      tellFault(fault);
    }
    setClocks(node, api.now());
  };
  const poll = createPoll(refresh, everyMs);
  const ticking = window.setInterval(() => setClocks(node, api.now()), tickMs);

  const closeViews = openViews(byId("views"), views, (name) => {
    if (name === "machine") machine.show();
  });
  return {
    node,
    close() {
      poll.stop();
      window.clearInterval(ticking);
      closeViews();
    },
  };
}
