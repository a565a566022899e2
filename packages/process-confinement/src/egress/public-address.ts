import { isIPv4, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/** Prefixes of IPv4 that are not the public Internet: IANA's special-purpose registry, multicast, reserved, broadcast. */
const closedV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
  // Public by number, but Azure's metadata and control host: only the machine itself answers there.
  ["168.63.129.16", 32],
];

/** Inside 2000::/3, which is all that is global unicast: IETF protocols (Teredo, ORCHID), documentation, 6to4. */
const closedV6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

/**
 * Whether an address is on the public Internet, and so may be reached from a sandbox. IPv4 inside IPv6 (mapped, NAT64's
 * well-known prefix) is judged by the IPv4 address; every other form of embedding is refused, as are zones and this machine's own.
 */
export function isPublicAddress(text: string): boolean {
  const bytes = bytesOf(text);
  if (bytes === undefined) return false;
  return isPublic(bytes) && !isOwn(bytes);
}

function isPublic(bytes: Uint8Array): boolean {
  if (bytes.length === 4) return !closedV4.some((prefix) => within(bytes, prefix));
  if (within(bytes, ["::ffff:0:0", 96]) || within(bytes, ["64:ff9b::", 96])) return isPublic(bytes.subarray(12));
  return within(bytes, ["2000::", 3]) && !closedV6.some((prefix) => within(bytes, prefix));
}

/** A public address of this machine reaches its services from behind the firewall. Read anew: interfaces come and go. */
function isOwn(bytes: Uint8Array): boolean {
  const bare = bytes.length === 16 && !within(bytes, ["2000::", 3]) ? bytes.subarray(12) : bytes;
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return own.some(({ address }) => {
    const other = bytesOf(address);
    return other !== undefined && other.length === bare.length && Buffer.compare(other, bare) === 0;
  });
}

function within(bytes: Uint8Array, [prefix, bits]: readonly [string, number]): boolean {
  const start = bytesOf(prefix);
  if (start === undefined || start.length !== bytes.length) return false;
  return bytes.every((byte, index) => {
    const left = Math.min(8, Math.max(0, bits - index * 8));
    const mask = (0xff << (8 - left)) & 0xff;
    return (byte & mask) === ((start[index] ?? 0) & mask);
  });
}

/** 4 or 16 bytes; undefined for what is no plain address. */
function bytesOf(text: string): Uint8Array | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split(".").map(Number));
  if (!isIPv6(text) || text.includes("%")) return undefined;
  return Uint8Array.from(groupsOf(text).flatMap((group) => [group >> 8, group & 0xff]));
}

/** The eight groups of an IPv6 address that `isIPv6` took. */
function groupsOf(text: string): readonly number[] {
  const dotted = /(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const pair = (high: string | undefined, low: string | undefined): string =>
    ((Number(high) << 8) | Number(low)).toString(16);
  const hex = dotted === null ? text : `${dotted[1]}${pair(dotted[2], dotted[3])}:${pair(dotted[4], dotted[5])}`;
  const [left, right] = hex.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const head = left ?? [];
  const tail = right ?? [];
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
