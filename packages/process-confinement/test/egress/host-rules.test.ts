import { describe, expect, it } from "vitest";
import { readHostName, readPort } from "../../src/egress/host-name.js";
import { readRules } from "../../src/egress/host-rules.js";
import { isConfinementError } from "../../src/egress/index.js";

describe("a host name from a client", () => {
  it.each([
    { text: "example.com", name: "example.com" },
    { text: "EXAMPLE.Com", name: "example.com" },
    { text: "example.com.", name: "example.com" },
    { text: "bücher.de", name: "xn--bcher-kva.de" },
    { text: "BÜCHER.de", name: "xn--bcher-kva.de" },
    { text: "xn--bcher-kva.de", name: "xn--bcher-kva.de" },
    { text: "a。example．com", name: "a.example.com" },
    { text: "ｅxample.com", name: "example.com" },
    { text: "_acme.example.com", name: "_acme.example.com" },
    { text: "1password.com", name: "1password.com" },
    { text: "localhost", name: "localhost" },
  ])("$text is compared as $name", ({ text, name }) => {
    expect(readHostName(text)).toEqual({ name });
  });

  it.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0177.0.0.1",
    "example.0x1",
    "1.2.3.4.",
    "１２７.0.0.1",
    "127。0。0。1",
    "[::1]",
    "::1",
    "[::ffff:127.0.0.1]",
    "fe80::1%eth0",
    "a.b.c.256",
    "x.0x",
  ])("%s is an address, whichever resolver would read it so", (text) => {
    expect(readHostName(text)).toEqual({ problem: "address" });
  });

  it.each([
    { what: "nothing", text: "" },
    { what: "a dot", text: "." },
    { what: "an empty label", text: "a..b" },
    { what: "two closing dots", text: "example.com.." },
    { what: "a leading dot", text: ".example.com" },
    { what: "an embedded NUL", text: "allowed.test\0.evil.test" },
    { what: "a line feed", text: "allowed.test\nx" },
    { what: "a space", text: "allowed.test x" },
    { what: "a percent code", text: "allowed%2etest" },
    { what: "a slash", text: "allowed.test/x" },
    { what: "a backslash", text: "allowed.test\\x" },
    { what: "user information", text: "allowed.test@evil.test" },
    { what: "a fragment", text: "allowed.test#x" },
    { what: "a star", text: "*.test" },
    { what: "a leading hyphen", text: "-a.test" },
    { what: "a closing hyphen", text: "a-.test" },
    { what: "a label of 64", text: `${"a".repeat(64)}.test` },
    { what: "254 characters", text: `${"a.".repeat(126)}ab` },
    { what: "an invisible character", text: "allo\u200bwed.test" },
    { what: "much too much", text: "a.".repeat(50_000) },
  ])("$what is no host name", ({ text }) => {
    expect(readHostName(text)).toEqual({ problem: "invalid" });
  });

  it.each([
    { text: "443", port: 443 },
    { text: "0443", port: 443 },
    { text: "0", port: undefined },
    { text: "65536", port: undefined },
    { text: "+80", port: undefined },
    { text: "8e1", port: undefined },
    { text: "", port: undefined },
    { text: "000080", port: undefined },
  ])("the port $text is $port", ({ text, port }) => {
    expect(readPort(text)).toBe(port);
  });
});

describe("rules", () => {
  const rules = readRules([
    { host: "exact.test" },
    { host: "*.wide.test", ports: [8443] },
    { host: "both.wide.test", ports: [22] },
    { host: "xn--bcher-kva.de", ports: [443] },
  ]);

  it.each([
    { name: "exact.test", port: 443, refuses: undefined },
    { name: "exact.test", port: 80, refuses: undefined },
    { name: "exact.test", port: 8080, refuses: "PORT_NOT_ALLOWED" },
    { name: "a.exact.test", port: 443, refuses: "HOST_NOT_ALLOWED" },
    { name: "notexact.test", port: 443, refuses: "HOST_NOT_ALLOWED" },
    { name: "a.wide.test", port: 8443, refuses: undefined },
    { name: "a.b.wide.test", port: 8443, refuses: undefined },
    { name: "wide.test", port: 8443, refuses: "HOST_NOT_ALLOWED" },
    { name: "evilwide.test", port: 8443, refuses: "HOST_NOT_ALLOWED" },
    { name: "wide.test.evil.test", port: 8443, refuses: "HOST_NOT_ALLOWED" },
    { name: "a.wide.test", port: 443, refuses: "PORT_NOT_ALLOWED" },
    { name: "both.wide.test", port: 22, refuses: undefined },
    { name: "both.wide.test", port: 8443, refuses: undefined },
    { name: "xn--bcher-kva.de", port: 443, refuses: undefined },
    { name: "test", port: 443, refuses: "HOST_NOT_ALLOWED" },
  ])("$name at $port: $refuses", ({ name, port, refuses }) => {
    expect(rules.refuses(name, port)).toBe(refuses);
  });

  it.each([
    { what: "no rule", allow: [], field: "allow" },
    { what: "too many", allow: Array.from({ length: 257 }, () => ({ host: "a.test" })), field: "allow" },
    { what: "an address", allow: [{ host: "10.0.0.1" }], field: "allow[0].host" },
    { what: "a scheme", allow: [{ host: "https://a.test" }], field: "allow[0].host" },
    { what: "a port in the host", allow: [{ host: "a.test:443" }], field: "allow[0].host" },
    { what: "upper case", allow: [{ host: "a.test" }, { host: "A.test" }], field: "allow[1].host" },
    { what: "another script", allow: [{ host: "bücher.de" }], field: "allow[0].host" },
    { what: "a closing dot", allow: [{ host: "a.test." }], field: "allow[0].host" },
    { what: "every host", allow: [{ host: "*" }], field: "allow[0].host" },
    { what: "a whole top-level domain", allow: [{ host: "*.com" }], field: "allow[0].host" },
    { what: "a star inside", allow: [{ host: "a.*.test" }], field: "allow[0].host" },
    { what: "two stars", allow: [{ host: "*.*.a.test" }], field: "allow[0].host" },
    { what: "a name alone", allow: JSON.parse('["a.test"]'), field: "allow[0]" },
    { what: "a misspelled member", allow: JSON.parse('[{"host":"a.test","port":[8443]}]'), field: "allow[0].port" },
    { what: "no port", allow: [{ host: "a.test", ports: [] }], field: "allow[0].ports" },
    { what: "port 0", allow: [{ host: "a.test", ports: [0] }], field: "allow[0].ports" },
    { what: "half a port", allow: [{ host: "a.test", ports: [443.5] }], field: "allow[0].ports" },
  ])("with $what are refused, and the member is named", ({ allow, field }) => {
    const refusal = thrownBy(() => readRules(allow));
    expect(isConfinementError(refusal) && [refusal.code, refusal.field]).toEqual(["EGRESS_RULE_INVALID", field]);
  });
});

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
