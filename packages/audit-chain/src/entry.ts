import type { JsonValue } from "./json-value.js";

/**
 * What a caller appends. Members are the caller's own, flat by preference, at most 8 levels deep and I-JSON only;
 * `undefined` members are left out. Digests and sizes belong here, payloads do not.
 *
 * The names `seq`, `time`, `prev`, `hash` and `clock` are the chain's. Four types have a meaning to the verifier:
 * `session.open` and `session.close` bracket the entries of their `session`, and a `call.outcome` names in its member
 * `intent` the sequence number of the `call.intent` that it answers.
 */
export interface EntryInput {
  /** What happened: 1 to 64 of a-z, 0-9, `.`, `-`, `_`, starting with a letter. */
  readonly type: string;
  /** The session that it belongs to, 1 to 200 characters. */
  readonly session?: string | undefined;
  readonly [member: string]: JsonValue | undefined;
}

/** An entry as it is stored: the caller's members and the chain's. */
export interface EntryBody {
  /** Place in the log, from 1, without gaps. */
  readonly seq: number;
  /** The writer's clock, RFC 3339 in UTC with milliseconds. */
  readonly time: string;
  readonly type: string;
  readonly session?: string;
  /** SHA-256 of what stands before, lower-case hex. */
  readonly prev: string;
  /**
   * Present when the writer saw its clock jump: `back`, the time is before that of the previous entry; `stepped`,
   * wall clock and monotonic clock disagree about the time since then by more than a second and a thousandth.
   */
  readonly clock?: "back" | "stepped";
  readonly [member: string]: JsonValue | undefined;
}

/** An entry as it is read back. */
export interface Entry extends EntryBody {
  /** SHA-256 of the entry's stored bytes, lower-case hex. */
  readonly hash: string;
}

/** The end of a chain. Two logs with the same head are the same up to there. */
export interface Head {
  /** Sequence number of the last entry; 0 for none. Also the number of entries. */
  readonly sequence: number;
  /** Hash that the next line links to, lower-case hex. */
  readonly hash: string;
}

/** What `append` answers. */
export interface Receipt extends Head {
  /** The time that the entry bears. */
  readonly time: string;
}
