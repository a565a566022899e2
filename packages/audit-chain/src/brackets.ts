import type { EntryBody } from "./entry.js";
import type { Findings } from "./findings.js";

/** Checks that sessions and calls begin before they end. */
export interface BracketCheck {
  entry(entry: EntryBody): void;
  /** At the end of the log: notices for what is still open. */
  end(): void;
}

/** How many open sessions, and how many open intents, are kept in mind. */
const maxTracked = 100_000;

interface Opened {
  readonly seq: number;
  readonly session: string | undefined;
  readonly segment: string;
  readonly offset: number;
}

/** A check from the beginning of a log; `partial` when that is not where it starts. */
export function createBracketCheck(partial: boolean, findings: Findings): BracketCheck {
  const sessions = new Map<string, Opened>();
  const intents = new Map<number, Opened>();
  let full = false;

  // Where something is missing or was not kept in mind, its absence explains what would be a fault otherwise.
  const excused = (): boolean => partial || full || findings.problemCount > 0;
  const keep = <Key>(map: Map<Key, Opened>, key: Key, entry: EntryBody): void => {
    if (map.size < maxTracked) map.set(key, { seq: entry.seq, session: entry.session, ...findings.place });
    else if (!full) {
      full = true;
      findings.notice(
        "TRACKING_LIMIT",
        entry.seq,
        `more than ${maxTracked} are open: brackets are not checked from here`,
      );
    }
  };
  const openSession = (session: string, entry: EntryBody): void => {
    if (!sessions.has(session)) keep(sessions, session, entry);
    else if (!excused())
      findings.problem("SESSION_REOPENED", entry.seq, `entry ${entry.seq} opens a session that is open`);
  };
  const inSession = (session: string, entry: EntryBody): void => {
    if (!sessions.has(session) && !excused()) {
      findings.problem("SESSION_NOT_OPEN", entry.seq, `entry ${entry.seq} is of a session that is not open`);
    }
    if (entry.type === "session.close") sessions.delete(session);
  };
  const outcome = (entry: EntryBody): void => {
    const { intent } = entry;
    const opened = typeof intent === "number" ? intents.get(intent) : undefined;
    if (opened !== undefined && opened.session === entry.session) intents.delete(opened.seq);
    else if (!excused()) {
      findings.problem("OUTCOME_WITHOUT_INTENT", entry.seq, `entry ${entry.seq} names no open intent of its session`);
    }
  };

  return {
    entry: (entry) => {
      const { session, type } = entry;
      if (session !== undefined) (type === "session.open" ? openSession : inSession)(session, entry);
      if (type === "call.intent") keep(intents, entry.seq, entry);
      if (type === "call.outcome") outcome(entry);
      if (type === "log.recovered") findings.notice("RECOVERED", entry.seq, "a torn record was cut off here");
    },
    end: () => {
      const open = [...byOrder(sessions, "SESSION_UNCLOSED"), ...byOrder(intents, "INTENT_UNMATCHED")];
      for (const { opened, code } of open.sort((a, b) => a.opened.seq - b.opened.seq)) {
        findings.at(opened.segment, opened.offset);
        const what =
          code === "SESSION_UNCLOSED" ? "opens a session that is not closed" : "is an intent without an outcome";
        findings.notice(code, opened.seq, `entry ${opened.seq} ${what}`);
      }
    },
  };
}

type OpenCode = "SESSION_UNCLOSED" | "INTENT_UNMATCHED";

function byOrder(map: ReadonlyMap<unknown, Opened>, code: OpenCode): { opened: Opened; code: OpenCode }[] {
  return Array.from(map.values(), (opened) => ({ opened, code }));
}
