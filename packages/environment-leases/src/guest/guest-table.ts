import type { GuestExit } from "../environment.js";
import type { GuestFrame } from "./guest-frame.js";
import { signalName } from "./guest-signals.js";

/** The agent's answer to a start. */
export type StartAnswer = GuestFrame & { readonly kind: "started" | "failed" };

/** One thing that was asked for, and what is told about it. Neither promise rejects. */
export interface TableEntry {
  readonly id: number;
  readonly answer: Promise<StartAnswer>;
  readonly exited: Promise<GuestExit>;
}

/** What was asked of one agent and has not ended. */
export interface GuestTable {
  readonly size: number;
  /** A relay is no process: the agent never tells of its end. */
  add(what: "process" | "relay"): TableEntry;
  isRunning(id: number): boolean;
  /** Takes what the agent says. Returns the fault when it may not say so. */
  take(frame: Exclude<GuestFrame, { kind: "ready" }>): string | undefined;
  /** Nobody waits for it any more; it is killed as soon as it runs. */
  abandon(id: number): void;
  forget(id: number): void;
  /** The environment has ended. */
  endAll(): void;
}

interface Row {
  readonly what: "process" | "relay";
  readonly settleAnswer: (answer: StartAnswer) => void;
  readonly settleExit: (exit: GuestExit) => void;
  state: "starting" | "running" | "abandoned";
}

const unknownExit: GuestExit = { code: undefined, signal: undefined };

export function createGuestTable(kill: (id: number) => void): GuestTable {
  const rows = new Map<number, Row>();
  let lastId = 0;

  const takeAnswer = (frame: StartAnswer, row: Row | undefined): string | undefined => {
    if (row === undefined || row.state === "running") return "an answer to nothing that was asked";
    if (frame.kind === "failed" || (row.state === "abandoned" && row.what === "relay")) rows.delete(frame.id);
    else if (row.state === "abandoned") kill(frame.id);
    else row.state = "running";
    row.settleAnswer(frame);
    return undefined;
  };
  const takeExit = (frame: GuestFrame & { kind: "exit" }, row: Row | undefined): string | undefined => {
    if (row === undefined || row.state === "starting") return "the end of something that does not run";
    rows.delete(frame.id);
    row.settleExit({
      code: frame.code,
      signal: frame.signal === undefined ? undefined : signalName(frame.signal),
    });
    return undefined;
  };
  return {
    get size() {
      return rows.size;
    },
    add(what) {
      const id = ++lastId;
      let settleAnswer: Row["settleAnswer"] = () => {};
      let settleExit: Row["settleExit"] = () => {};
      const answer = new Promise<StartAnswer>((resolve) => (settleAnswer = resolve));
      const exited = new Promise<GuestExit>((resolve) => (settleExit = resolve));
      rows.set(id, { what, settleAnswer, settleExit, state: "starting" });
      return { id, answer, exited };
    },
    isRunning: (id) => rows.get(id)?.state === "running",
    take: (frame) =>
      frame.kind === "exit" ? takeExit(frame, rows.get(frame.id)) : takeAnswer(frame, rows.get(frame.id)),
    abandon(id) {
      const row = rows.get(id);
      if (row === undefined) return;
      if (row.what === "relay" && row.state === "running") rows.delete(id);
      else if (row.state === "running") kill(id);
      row.state = "abandoned";
    },
    forget: (id) => rows.delete(id),
    endAll() {
      for (const row of rows.values()) row.settleExit(unknownExit);
      rows.clear();
    },
  };
}
