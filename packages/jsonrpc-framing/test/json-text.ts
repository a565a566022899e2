import fc from "fast-check";

// JSON as text, not as values: what JSON.stringify never writes (escapes where none are needed, 1e2, equal keys, white
// space everywhere) is what a scan of bytes gets wrong.

const space = fc.constantFrom("", "", "", "", " ", "\n", "\t", "\r\n", "  ");

const escaped = fc.constantFrom(
  '\\"',
  "\\\\",
  "\\/",
  "\\b",
  "\\f",
  "\\n",
  "\\r",
  "\\t",
  "\\u0022",
  "\\u005C",
  "\\ud83d",
);
const unit = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom("a", "b", "{", "}", "[", "]", ",", ":", "'", "id", " ", "é", "漢", "😀", "\u2028"),
  },
  { weight: 3, arbitrary: escaped },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => `\\u${code.toString(16).padStart(4, "0")}`),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 120 }).map((length) => "x".repeat(length)) },
);

/** A string token with quotes. */
export const stringText: fc.Arbitrary<string> = fc.array(unit, { maxLength: 8 }).map((units) => `"${units.join("")}"`);

/** A number token, as large, small and odd as the grammar allows. */
export const numberText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("0", "-0", "1", "1.0", "1e2", "1E+2", "10e-1", "1.5", "-7", "1e400", "0.1e1", "-1E-2"),
  fc.constantFrom("9007199254740991", "9007199254740993", "-9007199254740992", "12345678901234567890", "1e21"),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);

/** One character of a name, as it is or as an escape. */
function written(name: string): fc.Arbitrary<string> {
  const letters = [...name].map((letter) => {
    const hex = letter.charCodeAt(0).toString(16).padStart(4, "0");
    return fc.oneof(
      { weight: 6, arbitrary: fc.constant(letter) },
      { weight: 1, arbitrary: fc.constantFrom(`\\u${hex}`, `\\u${hex.toUpperCase()}`) },
    );
  });
  return fc.tuple(...letters).map((parts) => `"${parts.join("")}"`);
}

const lookAlikes = [
  "Id",
  "ids",
  "id ",
  "i",
  "d",
  "",
  "methods",
  "method\\u0000",
  "jsonrpc2",
  "param",
  "__proto__",
  "iｄ",
  "\\\\u0069d",
];

/** A key token: a name that JSON-RPC knows, one that only looks like it, or any string. */
export const keyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("id", "method", "params", "result", "error", "jsonrpc").chain(written) },
  { weight: 2, arbitrary: fc.constantFrom(...lookAlikes).map((key) => `"${key}"`) },
  { weight: 1, arbitrary: stringText },
);

function objectOf(members: fc.Arbitrary<readonly (readonly [string, string])[]>): fc.Arbitrary<string> {
  return fc
    .tuple(members, fc.array(space, { minLength: 4, maxLength: 4 }))
    .map(([list, [a = "", b = "", c = "", d = ""]]) => {
      const body = list.map(([key, value]) => `${a}${key}${b}:${c}${value}${d}`).join(",");
      return `{${body === "" ? a : body}}`;
    });
}

/** Any JSON value as text. */
export const { value: valueText }: { value: fc.Arbitrary<string> } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constantFrom("true", "false", "null", "{}", "[]", "[ ]", "{ }"),
    numberText,
    stringText,
    fc
      .tuple(space, fc.array(tie("value"), { maxLength: 4 }))
      .map(([gap, items]) => `[${gap}${items.join(`${gap},`)}${gap}]`),
    objectOf(fc.array(fc.tuple(keyText, tie("value")), { maxLength: 4 })),
  ),
}));

const idText = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 1000 }).map(String) },
  { weight: 3, arbitrary: stringText },
  { weight: 2, arbitrary: numberText },
  { weight: 1, arbitrary: fc.constantFrom("null", "true", "[1]", "{}") },
);
const errorText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('{"code":-32601,"message":"no"}', '{"message":"","code":1e0,"data":[{}]}') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '{"code":1.5,"message":"no"}',
      '{"code":1}',
      '{"code":1,"message":2,"message":"x"}',
      "null",
    ),
  },
  { weight: 1, arbitrary: valueText },
);

const member = (name: string, value: fc.Arbitrary<string>): fc.Arbitrary<[string, string]> =>
  fc.tuple(written(name), value);
const anyMember = fc.oneof(
  member("jsonrpc", fc.constantFrom('"2.0"', '"2\\u002e0"', '"1.0"', "2.0", '"2.0 "')),
  member("id", idText),
  member("method", fc.oneof(stringText, valueText)),
  member("params", valueText),
  member("result", valueText),
  member("error", errorText),
  fc.tuple(keyText, valueText),
);
const mostly = (name: string, value: fc.Arbitrary<string>): fc.Arbitrary<[string, string][]> =>
  fc.option(member(name, value), { freq: 9, nil: undefined }).map((found) => (found === undefined ? [] : [found]));

const version = mostly("jsonrpc", fc.constantFrom('"2.0"', '"2.0"', '"\\u0032.0"'));
const paramsText = fc.oneof(objectOf(fc.array(fc.tuple(keyText, valueText), { maxLength: 5 })), valueText);
const body = fc.oneof(
  fc.tuple(version, mostly("id", idText), mostly("method", stringText), mostly("params", paramsText)),
  fc.tuple(version, mostly("id", idText), mostly("result", valueText)),
  fc.tuple(version, mostly("id", idText), mostly("error", errorText)),
);

/** An object that is a message, or nearly one: any order, extra and equal members, white space. */
export const messageText: fc.Arbitrary<string> = fc
  .tuple(body, fc.array(anyMember, { maxLength: 2 }), space)
  .chain(([parts, extra, around]) => {
    const members = [...parts.flat(), ...extra];
    const order = fc.shuffledSubarray(members, { minLength: members.length });
    return objectOf(order).map((text) => around + text + around);
  });
