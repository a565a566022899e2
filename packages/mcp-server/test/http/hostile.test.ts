import fc from "fast-check";
import { expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { serveHttp } from "../../src/http.js";
import { call, modern } from "../support/http.js";
import { dial, raw } from "../support/raw-http.js";
import { sampleServer } from "../support/sample.js";

const good = [raw(call("sum")), raw(call("tells", {}, { meta: { progressToken: 1 } })), raw(modern("tools/list"))];
/** Pieces of requests in any order, with bytes changed, doubled and left out. */
const pieces = fc.array(
  fc.record({
    text: fc.constantFrom(
      ...good,
      "\r\n",
      "0\r\n\r\n",
      "POST /mcp HTTP/1.1\r\n",
      "transfer-encoding: chunked\r\n",
      "{}",
    ),
    from: fc.nat({ max: 700 }),
    length: fc.nat({ max: 700 }),
    noise: fc.uint8Array({ maxLength: 8 }),
  }),
  { maxLength: 6 },
);

it("whatever bytes come over a connection, only that connection suffers", { timeout: 120_000 }, async () => {
  const unexpected: unknown[] = [];
  await using http = await serveHttp({
    server: sampleServer(),
    principal: "ada",
    limits: { bodyMs: 1_000 },
    logger: () => undefined,
    onUnexpectedError: (error) => void unexpected.push(error),
  });
  const numRuns = scaledCount("hostile connections", 10_000);
  await fc.assert(
    fc.asyncProperty(pieces, fc.boolean(), async (parts, isAbrupt) => {
      const client = await dial(http.port);
      for (const { text, from, length, noise } of parts) {
        await client.write(Buffer.concat([Buffer.from(text.slice(from, from + length)), noise, Buffer.from(text)]));
      }
      if (isAbrupt) client.socket.destroy();
      else client.socket.end();
      await client.ended();
      expect(client.received).not.toMatch(/<html|node:internal|\.ts:\d/);
    }),
    { numRuns },
  );
  const client = await dial(http.port);
  await client.write(raw(call("sum")));
  expect((await client.answers(1))[0]).toMatch(/^HTTP\/1\.1 200/);
  client.socket.destroy();
  expect(unexpected).toEqual([]);
});
