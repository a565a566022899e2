import type { EgressRule } from "@berth/process-confinement/egress";

/** The proxy's rules for a policy's `allowedHosts`, which were checked when the policy was read. */
export function egressRules(allowedHosts: readonly string[]): readonly EgressRule[] {
  return allowedHosts.map((entry) => {
    const [host = entry, port] = entry.split(":");
    return port === undefined ? { host } : { host, ports: [Number(port)] };
  });
}
