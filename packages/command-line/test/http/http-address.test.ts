import { describe, expect, it } from "vitest";
import { isLoopback, readHttpAddress, refuseOpenDoor } from "../../src/http/index.js";
import { exitCodes } from "../../src/index.js";

describe("an address", () => {
  it.each([
    { text: "127.0.0.1:8222", host: "127.0.0.1", port: 8222, loopback: true },
    { text: "127.1.2.3:0", host: "127.1.2.3", port: 0, loopback: true },
    { text: "[::1]:1", host: "::1", port: 1, loopback: true },
    { text: "localhost:80", host: "localhost", port: 80, loopback: true },
    { text: "0.0.0.0:80", host: "0.0.0.0", port: 80, loopback: false },
    { text: "[::]:80", host: "::", port: 80, loopback: false },
    { text: "[::ffff:127.0.0.1]:80", host: "::ffff:127.0.0.1", port: 80, loopback: false },
    { text: "localhost.example:80", host: "localhost.example", port: 80, loopback: false },
    { text: "127.0.0.1.example:80", host: "127.0.0.1.example", port: 80, loopback: false },
  ])("$text is read, and known as this machine's own or not", ({ text, host, port, loopback }) => {
    expect(readHttpAddress(text, "127.0.0.1:80")).toEqual({ host, port });
    expect(isLoopback(host)).toBe(loopback);
  });

  it.each(["", "8222", ":1", "a:", "a:b", "a:65536", "::1:1", "[::1]", "[x]:1", "http://a:1", "a/b:1", "a b:1"])(
    "is refused for %j",
    (text) => {
      expect(() => readHttpAddress(text, "127.0.0.1:80")).toThrow("HOST:PORT");
    },
  );

  it.each([
    { host: "127.0.0.1", authenticated: false, isRefused: false },
    { host: "0.0.0.0", authenticated: true, isRefused: false },
    { host: "0.0.0.0", authenticated: false, isRefused: true },
    { host: "example.test", authenticated: false, isRefused: true },
  ])(
    "$host is open to strangers with authentication $authenticated: $isRefused",
    ({ host, authenticated, isRefused }) => {
      const open = (): void => refuseOpenDoor({ host, port: 80 }, authenticated, "give --token-file");
      if (!isRefused) return open();
      const refusal = { code: "USAGE", exitCode: exitCodes.usage, lines: ["give --token-file"] };
      expect(open).toThrow(expect.objectContaining(refusal));
    },
  );
});
