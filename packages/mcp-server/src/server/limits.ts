import { type Bounds, type LimitRanges, limitReader } from "../limit-reader.js";

/** What bounds a server. Each is a whole number; a value out of its range is a RegistrationError. */
export interface McpServerLimits {
  /** Entries on one page of a list: 1 to 1_000. Default 100. */
  readonly pageSize?: number | undefined;
  /** Open `subscriptions/listen` requests, and subscribed resources, of one connection: 1 to 65_536 each. Default 1_024. */
  readonly maxSubscriptions?: number | undefined;
  /**
   * Addresses of the resources that one connection subscribed to, together, in bytes; and the parameters of one `subscriptions/listen`, as JSON: 1_024 to 16_777_216 each.
   * Default 128 KiB. Above: -32602.
   */
  readonly maxSubscriptionBytes?: number | undefined;
  /** What a client declares as its capabilities, as JSON, in bytes: 1_024 to 1_048_576. Default 8 KiB. Above: -32602. A session keeps a copy of it. */
  readonly maxCapabilityBytes?: number | undefined;
  /** Questions to one client that wait for its answer: 1 to 16_384. Default 64. */
  readonly maxClientRequests?: number | undefined;
  /** How long a client may take to answer one, in milliseconds: 1 to 86_400_000. Default 300_000. */
  readonly clientAnswerMs?: number | undefined;
  /** How long `requestState` is good for, in milliseconds: 1_000 to 86_400_000. Default 600_000. */
  readonly requestStateMs?: number | undefined;
  /** Largest `requestState` in bytes: 1_024 to 1_048_576. Default 65_536. */
  readonly maxRequestStateBytes?: number | undefined;
}
/** With defaults filled in. */
export type ServerLimits = Bounds<McpServerLimits>;

const ranges = {
  pageSize: { min: 1, max: 1_000, preset: 100 },
  maxSubscriptions: { min: 1, max: 65_536, preset: 1_024 },
  maxSubscriptionBytes: { min: 1_024, max: 16_777_216, preset: 131_072 },
  maxCapabilityBytes: { min: 1_024, max: 1_048_576, preset: 8_192 },
  maxClientRequests: { min: 1, max: 16_384, preset: 64 },
  clientAnswerMs: { min: 1, max: 86_400_000, preset: 300_000 },
  requestStateMs: { min: 1_000, max: 86_400_000, preset: 600_000 },
  maxRequestStateBytes: { min: 1_024, max: 1_048_576, preset: 65_536 },
} as const satisfies LimitRanges<McpServerLimits>;

/** Longest id of a request, and longest `progressToken`, in characters: both come back with what is told in the course of the request. */
export const maxIdLength = 1_024;

/** Whether an id, or what else comes back with each notification, is over `maxIdLength`. */
export function isLongId(id: string | number): boolean {
  return typeof id === "string" && id.length > maxIdLength;
}
export const longId: string = `the id is longer than ${maxIdLength} characters`;

/** Longest address of a resource, in characters. */
export const maxAddressLength = 8_192;

/** Tells each fault, and goes on with the default. */
export function readLimits(limits: McpServerLimits | undefined, fault: (message: string) => void): ServerLimits {
  const read = limitReader(limits, ranges, fault);
  return {
    pageSize: read("pageSize"),
    maxSubscriptions: read("maxSubscriptions"),
    maxSubscriptionBytes: read("maxSubscriptionBytes"),
    maxCapabilityBytes: read("maxCapabilityBytes"),
    maxClientRequests: read("maxClientRequests"),
    clientAnswerMs: read("clientAnswerMs"),
    requestStateMs: read("requestStateMs"),
    maxRequestStateBytes: read("maxRequestStateBytes"),
  };
}
