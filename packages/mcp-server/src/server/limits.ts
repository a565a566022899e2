/** What bounds a server. Each is a whole number; a value out of its range is a RegistrationError. */
export interface McpServerLimits {
  /** Entries on one page of a list: 1 to 1_000. Default 100. */
  readonly pageSize?: number | undefined;
  /** Open `subscriptions/listen` requests, and subscribed resources, of one connection: 1 to 65_536 each. Default 1_024. */
  readonly maxSubscriptions?: number | undefined;
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
export type ServerLimits = { readonly [Name in keyof McpServerLimits]-?: number };

const ranges = {
  pageSize: [1, 1_000, 100],
  maxSubscriptions: [1, 65_536, 1_024],
  maxClientRequests: [1, 16_384, 64],
  clientAnswerMs: [1, 86_400_000, 300_000],
  requestStateMs: [1_000, 86_400_000, 600_000],
  maxRequestStateBytes: [1_024, 1_048_576, 65_536],
} as const satisfies Record<keyof McpServerLimits, readonly [number, number, number]>;

/** Tells each fault, and goes on with the default. */
export function readLimits(limits: McpServerLimits | undefined, fault: (message: string) => void): ServerLimits {
  for (const name of Object.keys(limits ?? {})) if (!(name in ranges)) fault(`there is no limit "${name}"`);
  const read = (name: keyof McpServerLimits): number => {
    const [min, max, preset] = ranges[name];
    const value = limits?.[name] ?? preset;
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    fault(`${name} is ${value}; it has to be a whole number from ${min} to ${max}`);
    return preset;
  };
  return {
    pageSize: read("pageSize"),
    maxSubscriptions: read("maxSubscriptions"),
    maxClientRequests: read("maxClientRequests"),
    clientAnswerMs: read("clientAnswerMs"),
    requestStateMs: read("requestStateMs"),
    maxRequestStateBytes: read("maxRequestStateBytes"),
  };
}
