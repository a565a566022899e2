import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mayRepeatKeys } from "../../src/stdio/repeated-keys.js";

const read = (text: string): boolean => mayRepeatKeys(Buffer.from(text), JSON.parse(text));

// An inner file: the refusal itself is tested in bounds.test.ts; this is the shortcut that decides whether to look.
describe("the shortcut that looks for repeated keys", () => {
  it("never overlooks one", () => {
    const member = fc.tuple(fc.constantFrom("a", "b", "c:", '"'), fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(fc.array(member, { minLength: 2, maxLength: 5 }), fc.boolean(), (members, nested) => {
        const object = `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`;
        const repeats = new Set(members.map(([key]) => key)).size < members.length;
        if (repeats) expect(read(nested ? `{"x":[1,${object}]}` : object)).toBe(true);
      }),
    );
  });

  it("is content with a message that has no colons in strings", () => {
    expect(read('{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[{"b":1},{"b":2}],"c":{}}}')).toBe(false);
    expect(read('{"uri":"note:///1"}')).toBe(true);
  });
});
