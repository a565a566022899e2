import fc from "fast-check";

const space = fc.constantFrom("", "", "", " ", "  ", "\t");
const piece = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 6 }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.constantFrom(
    "\\u0061",
    "\\n",
    "\\/",
    '\\"',
    "\\\\",
    "\\ud83d\\ude00",
    "\\u2028",
    "\u2028",
    "name",
    "id",
    "isError",
    "{",
    "]",
  ),
);
/** A JSON string as some encoder might write it. */
export const stringText: fc.Arbitrary<string> = fc
  .array(piece, { maxLength: 5 })
  .map((pieces) => `"${pieces.join("")}"`);
const numberText = fc.oneof(
  fc.integer().map(String),
  fc.constantFrom("1.0", "-0", "0.10", "1e0", "1E+2", "9007199254740993", "123456789012345678901234567890", "1e400"),
);

/** Valid JSON with all its freedom of spelling: white space, escapes, number literals, keys that occur twice. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom("null", "true", "false"),
    numberText,
    stringText,
    fc
      .array(
        fc.tuple(space, tie("value"), space).map((parts) => parts.join("")),
        { maxLength: 4 },
      )
      .map((items) => `[${items.join(",")}]`),
    tie("object"),
  ),
  object: fc
    .array(
      fc.tuple(space, stringText, space, fc.constant(":"), space, tie("value"), space).map((parts) => parts.join("")),
      { maxLength: 4 },
    )
    .map((members) => `{${members.join(",")}}`),
})).value;

/** Members of an object, as text, whose keys cannot be one that routing looks at. */
export const extraMembers: fc.Arbitrary<readonly string[]> = fc.array(
  fc.tuple(stringText, jsonText).map(([key, value]) => `"x${key.slice(1)}:${value}`),
  { maxLength: 3 },
);
