import { PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openInput } from "../src/serving/first-line.js";

const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", id: 1, ...message })}\n`;

const rows = [
  { name: "initialize", text: line({ method: "initialize", params: {} }), spoken: "mcp" },
  { name: "server/discover", text: line({ method: "server/discover" }), spoken: "mcp" },
  { name: "ping", text: line({ method: "ping" }), spoken: "mcp" },
  { name: "a request of 2026-07-28", text: line({ method: "tools/list", params: { _meta: meta } }), spoken: "mcp" },
  { name: "a method of the host", text: line({ method: "plugins/list" }), spoken: "json-rpc" },
  { name: "MCP without its revision", text: line({ method: "tools/list", params: {} }), spoken: "json-rpc" },
  { name: "no JSON", text: "hello\n", spoken: "json-rpc" },
  { name: "an empty line", text: `\n${line({ method: "initialize" })}`, spoken: "json-rpc" },
  { name: "nothing", text: "", spoken: "json-rpc" },
] as const;

describe("the first line of a client", () => {
  it.each(rows)("that is $name means $spoken, however it is cut, and not a byte is lost", async ({ text, spoken }) => {
    const whole = Buffer.from(`${text}${text === "" ? "" : "and more\n"}`);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 8 }), async (cuts) => {
        const input = new PassThrough();
        const places = [0, ...cuts.sort((a, b) => a - b), whole.length];
        const opened = openInput(input, new AbortController().signal);
        for (const [at, from] of places.slice(0, -1).entries()) input.write(whole.subarray(from, places[at + 1]));
        input.end();
        const { spoken: heard, readable } = await opened;
        expect(heard).toBe(spoken);
        expect(await buffer(readable)).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  it("that has no end is judged when the input ends", async () => {
    const input = new PassThrough();
    const opened = openInput(input, new AbortController().signal);
    input.end(line({ method: "initialize" }).trimEnd());
    expect((await opened).spoken).toBe("mcp");
  });

  it("is waited for until the program is told to end", async () => {
    const ending = new AbortController();
    const opened = openInput(new PassThrough(), ending.signal);
    ending.abort();
    const { spoken, readable } = await opened;
    expect(spoken).toBe("json-rpc");
    expect(await buffer(readable)).toEqual(Buffer.alloc(0));
  });

  it("over 16 MiB is no MCP", async () => {
    const input = new PassThrough();
    const opened = openInput(input, new AbortController().signal);
    input.write(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"x":"${"x".repeat(17 * 1024 * 1024)}`);
    const { spoken, readable } = await opened;
    expect(spoken).toBe("json-rpc");
    readable.destroy();
    await expect.poll(() => input.destroyed).toBe(true);
  });
});
