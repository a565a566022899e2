import { expect, it } from "vitest";
import { ChainError, openChain, readChain } from "../src/index.js";
import { openLastingChain } from "../src/lasting-chain.js";
import { logFolder } from "./scratch.js";

/** A log on a disk that is full when the test says so. */
function onDisk() {
  const directory = logFolder();
  const disk = { isFull: false, time: 0, opened: 0 };
  const open = async () => {
    disk.opened += 1;
    if (disk.isFull) throw new ChainError("OPEN_FAILED", "no space left");
    const chain = await openChain({ directory, now: Date.now });
    let hasFailed = false;
    return {
      async append(...given: Parameters<typeof chain.append>) {
        if (hasFailed) throw new ChainError("CHAIN_FAILED", "an earlier entry could not be kept");
        hasFailed = disk.isFull;
        if (hasFailed) throw new ChainError("WRITE_FAILED", "no space left");
        return chain.append(...given);
      },
      close: chain.close,
    };
  };
  const read = async (): Promise<readonly string[]> => {
    const types: string[] = [];
    for await (const { type } of readChain(directory)) types.push(type);
    return types;
  };
  return { disk, read, open: () => openLastingChain({ open, now: () => disk.time }) };
}

it("a log refuses what a full disk does not take, and goes on in the same log once there is room", async () => {
  const { disk, read, open } = onDisk();
  const log = await open();
  await log.append({ type: "one" });
  disk.isFull = true;
  for (const code of ["WRITE_FAILED", "OPEN_FAILED", "OPEN_FAILED", "OPEN_FAILED"])
    await expect(log.append({ type: "lost" })).rejects.toMatchObject({ code });
  expect(disk.opened).toBe(2);
  disk.isFull = false;
  disk.time = 1_000;
  expect((await Promise.all(["two", "three"].map((type) => log.append({ type })))).length).toBe(2);
  expect(disk.opened).toBe(3);
  await log.close();
  await expect(log.append({ type: "late" })).rejects.toMatchObject({ code: "CHAIN_CLOSED" });
  expect(await read()).toEqual(["one", "two", "three"]);
});

it("a log whose disk stays full can be closed", async () => {
  const { disk, read, open } = onDisk();
  const log = await open();
  disk.isFull = true;
  await expect(log.append({ type: "lost" })).rejects.toThrow();
  await expect(log.append({ type: "lost" })).rejects.toThrow();
  await log.close();
  await expect(log.append({ type: "late" })).rejects.toThrow();
  expect(await read()).toEqual([]);
});
