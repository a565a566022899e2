import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkServerNames, exposedName, maxNameLength, routeName } from "../src/names.js";

const serverNames = fc.stringMatching(/^[A-Za-z0-9_.-]{1,12}$/);
const toolNames = fc.stringMatching(/^[A-Za-z0-9_.-]{1,40}$/);

describe("exposed names", () => {
  it("are the server's name, two underscores and the tool's name, with their case", () => {
    expect(exposedName("Files", "Read_File", "prefixed")).toBe("Files__Read_File");
    expect(exposedName("Files", "Read_File", "plain")).toBe("Read_File");
  });

  it("lead back to the server and tool that they were made from, whatever underscores the names hold", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(serverNames, { minLength: 1, maxLength: 6 }),
        fc.nat(),
        toolNames,
        (servers, pick, tool) => {
          fc.pre(isUnambiguous(servers));
          const server = servers[pick % servers.length] ?? "";
          expect(routeName(exposedName(server, tool, "prefixed"), servers)).toEqual({ server, tool });
        },
      ),
    );
  });

  it("never lead from two servers to one name", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(serverNames, { minLength: 2, maxLength: 2 }),
        toolNames,
        toolNames,
        (servers, one, two) => {
          fc.pre(isUnambiguous(servers));
          const [a = "", b = ""] = servers;
          expect(exposedName(a, one, "prefixed")).not.toBe(exposedName(b, two, "prefixed"));
        },
      ),
    );
  });

  it("are cut to 128 characters with a digest, so that long names that begin alike stay apart", () => {
    const long = "x".repeat(200);
    const one = exposedName("s", `${long}1`, "prefixed");
    const two = exposedName("s", `${long}2`, "prefixed");
    expect(one).toHaveLength(maxNameLength);
    expect(one).toMatch(/^s__x{116}_[0-9a-f]{8}$/);
    expect(one).not.toBe(two);
    expect(routeName(one, ["s"])).toEqual({ server: "s" });
    expect(exposedName("s", "x".repeat(125), "prefixed")).toBe(`s__${"x".repeat(125)}`);
  });

  it("lead nowhere without a known prefix", () => {
    expect(routeName("c__x", ["a", "b"])).toBeUndefined();
    expect(routeName("ax", ["a"])).toBeUndefined();
  });
});

describe("server names", () => {
  it.each([
    { name: "one is the other's beginning with two underscores", servers: ["a", "a__b"] },
    { name: "one is the other and an underscore", servers: ["a", "a_"] },
    { name: "the order does not matter", servers: ["a__b__c", "a__b"] },
  ])("are refused when a tool could belong to two of them: $name", ({ servers }) => {
    expect(() => checkServerNames(servers, "prefixed")).toThrow(
      expect.objectContaining({ code: "SERVER_NAMES_AMBIGUOUS" }),
    );
    expect(() => checkServerNames(servers, "plain")).not.toThrow();
  });

  it.each(["", "a b", "ä", "@scope/x", "x".repeat(65)])(
    "are refused when they could not be part of a tool name: %j",
    (server) => {
      expect(() => checkServerNames([server], "prefixed")).toThrow(
        expect.objectContaining({ code: "SERVER_NAME_INVALID" }),
      );
    },
  );

  it("are refused when one occurs twice", () => {
    expect(() => checkServerNames(["a", "a"], "plain")).toThrow(
      expect.objectContaining({ code: "SERVER_NAME_INVALID" }),
    );
  });

  it("that share a beginning without the separator are fine", () => {
    expect(() => checkServerNames(["a", "ab", "a-b", "a_b"], "prefixed")).not.toThrow();
  });
});

function isUnambiguous(servers: readonly string[]): boolean {
  try {
    checkServerNames(servers, "prefixed");
    return true;
  } catch {
    return false; // Generated names that the check refuses are not what these properties are about.
  }
}
