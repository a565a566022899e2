import { networkInterfaces } from "node:os";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../src/egress/public-address.js";

// IANA IPv4 and IPv6 special-purpose address registries; RFC 6890, 6052, 4291.
const closed = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "100.127.255.254",
  "100.100.100.200",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.192",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "239.255.255.250",
  "240.0.0.1",
  "255.255.255.255",
  "168.63.129.16",
];

const open = [
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "128.0.0.1",
  "169.253.1.1",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.1",
  "192.167.255.255",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
];

const mapped = (v4: string): readonly string[] => [`::ffff:${v4}`, `64:ff9b::${v4}`];

describe("addresses that a sandbox never reaches", () => {
  it.each([...closed, ...closed.flatMap(mapped)])("%s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    "::",
    "::1",
    "::7f00:1",
    "::127.0.0.1",
    "::ffff:7f00:1",
    "0:0:0:0:0:ffff:a00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:101:101::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%lo",
    "fec0::1",
    "ff02::1",
    "4000::1",
  ])("%s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(["", "example.com", "1.2.3", "01.2.3.4", "1.2.3.4 ", "[::1]", "0x7f000001"])("%j is no address", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it("holds every address of this machine, public ones too", () => {
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    expect(own.length).toBeGreaterThan(0);
    for (const { address } of own) expect(isPublicAddress(address), address).toBe(false);
  });
});

describe("addresses that it may reach", () => {
  it.each([...open, ...open.flatMap(mapped), "2606:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888"])(
    "%s",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

it("judges an address alike in each of its spellings", () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  const groups = fc.tuple(
    fc.constantFrom(0, 0x64, 0x2001, 0x2606, 0xfc00, 0xfe80),
    ...Array.from({ length: 7 }, () => group),
  );
  fc.assert(
    fc.property(groups, (parts) => {
      const long = parts.map((part) => part.toString(16).padStart(4, "0")).join(":");
      const plain = parts.map((part) => part.toString(16).toUpperCase()).join(":");
      const short = new URL(`http://[${long}]/`).hostname.slice(1, -1);
      expect(new Set([long, plain, short].map(isPublicAddress)).size).toBe(1);
    }),
  );
});
