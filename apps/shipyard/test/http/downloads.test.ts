// An inner file: a client that reads slowly cannot be told from a fast one by what it gets.
import { expect, it } from "vitest";
import { createDownloads } from "../../src/http/rest/downloads.js";

const file = (bytes: number) => async (): Promise<Uint8Array> => new Uint8Array(bytes).fill(7);
const textOf = (body: ReadableStream<Uint8Array>): Promise<string> => new Response(body).text();

it.each([0, 1, 65_536, 65_537, 200_000])("a file of %i bytes arrives whole", async (bytes) => {
  const downloads = createDownloads(1);
  expect(await textOf(await downloads.body("ada", file(bytes)))).toBe("\u0007".repeat(bytes));
});

it("files that nobody reads keep their owner from more, and no other", async () => {
  const downloads = createDownloads(2);
  const [first, second] = [await downloads.body("ada", file(100_000)), await downloads.body("ada", file(100_000))];
  let isRead = false;
  const third = downloads.body("ada", async () => {
    isRead = true;
    return new Uint8Array();
  });
  await expect(third).rejects.toMatchObject({ status: 503 });
  expect(isRead).toBe(false);
  expect((await textOf(await downloads.body("bob", file(10)))).length).toBe(10);
  await first.cancel();
  await textOf(second);
  expect((await textOf(await downloads.body("ada", file(10)))).length).toBe(10);
});

it("a file that cannot be read takes no place", async () => {
  const downloads = createDownloads(1);
  const failing = downloads.body("ada", () => Promise.reject(new Error("gone")));
  await expect(failing).rejects.toThrow("gone");
  expect((await textOf(await downloads.body("ada", file(10)))).length).toBe(10);
});
