import type { EgressReason } from "./egress.js";

const statusOf: { readonly [Reason in EgressReason]: number } = {
  HOST_NOT_ALLOWED: 403,
  PORT_NOT_ALLOWED: 403,
  PRIVATE_ADDRESS: 403,
  RESOLUTION_FAILED: 502,
  CONNECT_FAILED: 502,
  REQUEST_INVALID: 400,
  LIMIT_REACHED: 503,
};

/** Ends a request: thrown inside, answered to the client in its protocol, told to `onDecision`. Never leaves this folder. */
export class EgressRefused extends Error {
  override readonly name = "EgressRefused";
  readonly reason: EgressReason;
  /** What an HTTP client is answered with. */
  readonly status: number;

  constructor(reason: EgressReason, message: string, status: number = statusOf[reason]) {
    super(message);
    this.reason = reason;
    this.status = status;
  }
}

/** For bytes that are not a request of the protocol. */
export function malformed(message: string): EgressRefused {
  return new EgressRefused("REQUEST_INVALID", message);
}

/** What `onDecision` is told: a fault of the network is `failed`, everything else is our refusal. */
export function outcomeOf(reason: EgressReason): "refused" | "failed" {
  return reason === "RESOLUTION_FAILED" || reason === "CONNECT_FAILED" ? "failed" : "refused";
}
