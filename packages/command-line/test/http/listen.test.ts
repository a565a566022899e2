import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createBodyReader, type Listening, type ListenOptions, listen } from "../../src/http/index.js";
import { exitCodes } from "../../src/index.js";

const here = { host: "127.0.0.1", port: 0 };

async function open(handle: ListenOptions["handle"], options: Partial<ListenOptions> = {}): Promise<Listening> {
  const listening = await listen({ address: here, handle, maxConnections: 16, authenticated: false, ...options });
  onTestFinished(() => listening.close(0));
  return listening;
}

describe("a server that listens", () => {
  it("answers at its url, at the port that was free", async () => {
    const { url } = await open((_request, response) => response.end("here"));
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/u);
    expect(await (await fetch(url)).text()).toBe("here");
  });

  it("sees every header, however many there are", async () => {
    const { url } = await open(({ headers }, response) => response.end(headers.origin));
    const many = Object.fromEntries(Array.from({ length: 2_100 }, (_, n) => [`x${n}`, ""]));
    expect(await (await fetch(url, { headers: { ...many, "z-origin": "1", origin: "http://evil.test" } })).text()).toBe(
      "http://evil.test",
    );
  });

  it("says what is the matter when its port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const port = addressOf(other.address()).port;
    await expect(open(() => {}, { address: { host: "127.0.0.1", port } })).rejects.toMatchObject({
      ...{ code: "LISTEN_FAILED", exitCode: exitCodes.failed, message: `cannot listen on 127.0.0.1:${port}` },
      lines: [expect.stringContaining("port 0 any that is free")],
    });
  });

  it("is not opened to others without authentication, whatever name its address has", async () => {
    const address = { host: "0.0.0.0", port: 0 };
    const refusal = { code: "LISTEN_FAILED", message: expect.stringContaining("which others can reach") };
    await expect(open(() => {}, { address })).rejects.toMatchObject(refusal);
  });

  it("closes: it lets go of idle connections at once, of the others when they were answered or the time is over", async () => {
    const under: (() => void)[] = [];
    const { url, close } = await open((_request, response) => void under.push(() => response.end("late")));
    const [answered, cut] = [ask(url), ask(url)];
    await expect.poll(() => under.length).toBe(2);
    const closed = close(200);
    under[0]?.();
    expect(await answered.text).toBe("late");
    await expect(cut.text).rejects.toThrow();
    await closed;
    await expect(fetch(url)).rejects.toThrow();
  });
});

describe("a body over Node's http", () => {
  it("that is too large is refused before it has come, and the refusal arrives", async () => {
    const bodies = createBodyReader({ maxBodyBytes: 1_024, maxBufferedBytes: 65_536 });
    const { url } = await open((incoming, response) =>
      bodies.bytes(incoming, "ada", 1_024).then(
        (body) => response.end(String(body.byteLength)),
        ({ status }) => response.writeHead(status, { connection: "close" }).end("refused"),
      ),
    );
    const [small, large] = [ask(url, "POST"), ask(url, "POST")];
    small.sent.end("x".repeat(1_000));
    expect(await small.text).toBe("1000");
    // Without a length, and without an end.
    large.sent.write("x".repeat(2_000));
    expect(await large.text).toBe("refused");
    large.sent.destroy();
  });
});

function ask(url: string, method = "GET"): { readonly sent: ClientRequest; readonly text: Promise<string> } {
  const sent = request(url, { method, agent: false });
  const text = new Promise<string>((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", async (response) => {
      let body = "";
      for await (const chunk of response) body += String(chunk);
      resolve(body);
    });
  });
  text.catch(() => {}); // looked at later
  if (method === "GET") sent.end();
  return { sent, text };
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (typeof address === "object" && address !== null) return address;
  throw new Error("a server without a port");
}
