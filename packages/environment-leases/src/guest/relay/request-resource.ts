import type { ResourceRequest, ResourceResponse } from "../../environment.js";
import { LeaseError } from "../../errors.js";
import type { GuestSurroundings } from "../guest-environment.js";
import { environmentEnded } from "../within.js";
import { checkRequest } from "./check-request.js";
import { exchange } from "./exchange.js";

const timeoutMs = 30_000;

/**
 * Relays a request to a port on the guest's loopback. No port of the host is opened.
 * @throws {LeaseError} `EXPOSURE_NOT_GRANTED`, `REQUEST_REFUSED`, `RELAY_FAILED`, `ENVIRONMENT_ENDED`.
 */
export async function requestResource(
  { agent, profile, ending }: GuestSurroundings,
  request: ResourceRequest,
): Promise<ResourceResponse> {
  request.signal?.throwIfAborted();
  const { exposeResources, exposedPorts } = profile.policy;
  if (!exposeResources) throw new LeaseError("EXPOSURE_NOT_GRANTED", `profile ${profile.name} exposes nothing`);
  checkRequest(request, exposedPorts);
  const bound = new AbortController();
  const late = new LeaseError("RELAY_FAILED", `the guest did not answer within ${timeoutMs} ms`);
  const timer = setTimeout(() => bound.abort(late), timeoutMs);
  const onAbort = (): void => bound.abort(request.signal?.reason);
  request.signal?.addEventListener("abort", onAbort);
  const unwatch = ending.watch((end) => bound.abort(environmentEnded(end)));
  try {
    const relay = await agent.start({ op: "relay", port: request.port }, { streams: 1, signal: bound.signal });
    const [stream] = relay.streams;
    if (stream === undefined) throw new Error("a relay was started without its stream");
    try {
      return await exchange(stream, request, bound.signal);
    } finally {
      stream.destroy();
      relay.forget();
    }
  } finally {
    clearTimeout(timer);
    unwatch();
    request.signal?.removeEventListener("abort", onAbort);
  }
}
