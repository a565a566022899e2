import { describe, expect, it } from "vitest";
import {
  aFlag,
  aFunction,
  anObject,
  aText,
  checkOptions,
  having,
  optional,
  somebody,
  textsOf,
} from "../src/option-check.js";

// The inner file: the errors of every entry are made here.
const kinds = {
  name: aText,
  on: optional(aFlag),
  told: optional(aFunction),
  more: optional(anObject),
  who: somebody,
  scopes: optional(textsOf("scopes")),
  store: optional(having(["read", "write"], "a store")),
};
const good = { name: "ada", who: 0 };

describe("an option", () => {
  it("is fine when it is what it has to be, or optional and absent", () => {
    checkOptions(good, kinds);
    const store = Object.create({ read: () => undefined, write: () => undefined });
    checkOptions({ ...good, on: false, told: () => 1, more: {}, scopes: [], store }, kinds);
    checkOptions({ ...good, on: undefined }, kinds);
  });

  it.each<{ name: string; given: unknown; text: string }>([
    {
      name: "one that does not exist",
      given: { nam: 1 },
      text: 'there is no option "nam" (did you mean "name"?); there are name, on, told',
    },
    { name: "one of the prototype", given: { toString: 1 }, text: 'there is no option "toString"' },
    { name: "an empty text", given: { name: "" }, text: "name is empty; it has to be a text that is not empty" },
    { name: "an absent one", given: { name: undefined }, text: "name is missing; it has to be a text" },
    { name: "null where it may be absent", given: { on: null }, text: "on is null; it has to be true or false" },
    { name: "a text for a flag", given: { on: "yes" }, text: "on is a text; it has to be true or false" },
    { name: "a number for a function", given: { told: 5 }, text: "told is 5; it has to be a function" },
    { name: "a list for an object", given: { more: [] }, text: "more is an empty list; it has to be an object" },
    { name: "nobody", given: { who: null }, text: "who is null; it has to be somebody: neither" },
    { name: "a text for a list", given: { scopes: "read" }, text: "scopes is a text; it has to be a list of scopes" },
    { name: "a list of others", given: { scopes: [5] }, text: "scopes is a list; it has to be a list of scopes" },
    {
      name: "an object without a function",
      given: { store: { read: () => 1 } },
      text: "store is an object; it has to be a store (with read, write)",
    },
    { name: "a promise", given: { store: Promise.resolve() }, text: "store is a promise: await it" },
    { name: "a promise where anything will do", given: { who: Promise.resolve() }, text: "who is a promise: await it" },
    { name: "a symbol", given: { name: Symbol("x") }, text: "name is Symbol(x); it has to be a text" },
  ])("is refused with its name, and what it is and has to be: $name", ({ given, text }) => {
    const options = Object.assign({ ...good }, given);
    expect(() => checkOptions(options, kinds)).toThrow(text);
    expect(() => checkOptions(options, kinds)).toThrow(TypeError);
  });

  it.each<{ name: string; given: unknown; text: string }>([
    { name: "none", given: undefined, text: "the argument is missing; it has to be an object" },
    { name: "null", given: null, text: "the argument is null" },
    { name: "a list", given: [1], text: "the argument is a list" },
    { name: "a text", given: "hunter2", text: "the argument is a text" },
    { name: "a function", given: () => 1, text: "the argument is a function" },
  ])("needs an object to be in: $name", ({ given, text }) => {
    expect(() => checkOptions(given, kinds)).toThrow(text);
  });

  it("never tells a text that was given, since it may be a secret", () => {
    const told: string[] = [];
    for (const option of Object.keys(kinds).filter((name) => name !== "name" && name !== "who")) {
      checkOptions({ ...good, [option]: "hunter2" }, kinds, { fault: (text) => void told.push(text) });
    }
    expect(told).toHaveLength(5);
    expect(told.join()).not.toContain("hunter2");
  });

  it("of another option is named with it, and all faults are told where none is thrown", () => {
    const told: string[] = [];
    checkOptions({ other: 1 }, { y: aText, z: aFlag }, { of: "outer", fault: (text) => void told.push(text) });
    expect(told).toEqual([
      'there is no option of outer "other"; there are y, z',
      "outer.y is missing; it has to be a text that is not empty",
      "outer.z is missing; it has to be true or false",
    ]);
  });
});
