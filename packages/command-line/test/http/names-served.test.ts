import { describe, expect, it } from "vitest";
import { namesServed } from "../../src/http/index.js";

const names = namesServed({ more: ["Sandbox.Example.com", " [2001:db8::1] "], option: "--allowed-host" });

describe("the names that a server is called by", () => {
  it.each([
    ["localhost", true],
    ["LOCALHOST:8222", true],
    ["127.0.0.1:1", true],
    ["[::1]:8222", true],
    ["sandbox.example.com:443", true],
    ["[2001:db8::1]", true],
    ["evil.example.com", false],
    ["localhost.evil.example.com", false],
    ["localhost:8222.evil.example.com", false],
    ["evil@localhost", false],
    ["localhost.", false],
    ["0.0.0.0", false],
    ["", false],
    [undefined, false],
  ])("Host %j may pass: %s", (host, isServed) => {
    const refusal = names.refusal(host, undefined);
    expect(refusal === undefined).toBe(isServed);
    if (!isServed) expect(refusal).toContain("--allowed-host");
  });

  it.each([
    [undefined, true],
    ["http://localhost:3000", true],
    ["https://sandbox.example.com", true],
    ["http://[::1]:5173", true],
    ["null", false],
    ["http://evil.example.com", false],
    ["http://localhost.evil.example.com", false],
    ["http://user@localhost", false],
    ["http://localhost/path", false],
    ["http://localhost?x", false],
    ["http://localhost#x", false],
    ["file://localhost", false],
    ["localhost", false],
  ])("Origin %j may pass: %s", (origin, isServed) => {
    expect(names.refusal("localhost", origin) === undefined).toBe(isServed);
  });

  it("are those that the program always serves, and the operator's", () => {
    const { hosts, allowedOrigins } = namesServed({ always: ["0.0.0.0"], more: ["A", "a"], option: "x" });
    expect(hosts).toEqual(["0.0.0.0", "a"]);
    expect(allowedOrigins).toEqual(["http://0.0.0.0:*", "https://0.0.0.0:*", "http://a:*", "https://a:*"]);
  });

  it.each(["https://example.com", "example.com:80", "a b", "", "*", "example..com/"])("do not hold %j", (name) => {
    expect(() => namesServed({ more: [name], option: "--allowed-host" })).toThrow(
      /^--allowed-host: .* is no host name/u,
    );
  });
});
