import fc from "fast-check";

const byte = fc.oneof(
  fc.constantFrom(..."{}[]\":,\\ \t0-.eEtnu/'").map((letter) => letter.charCodeAt(0)),
  fc.integer({ min: 0, max: 255 }),
);

/** One to three harms to a text: bytes lost, put in, replaced or moved. */
export const damage: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc
  .array(
    fc.tuple(fc.nat(), fc.constantFrom("drop", "insert", "replace", "repeat", "swap"), byte, fc.nat({ max: 20 })),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map(
    (harms) => (bytes) =>
      harms.reduce((text, [place, how, value, length]) => harm(text, place, how, value, length), bytes),
  );

function harm(text: Buffer, place: number, how: string, value: number, length: number): Buffer {
  const from = place % (text.length + 1);
  const [before, after] = [text.subarray(0, from), text.subarray(from)];
  switch (how) {
    case "drop":
      return Buffer.concat([before, after.subarray(length)]);
    case "insert":
      return Buffer.concat([before, Buffer.of(value), after]);
    case "replace":
      return Buffer.concat([before, Buffer.of(value), after.subarray(1)]);
    case "repeat":
      return Buffer.concat([before, after.subarray(0, length), after]);
    default:
      return Buffer.concat([after, before]);
  }
}
