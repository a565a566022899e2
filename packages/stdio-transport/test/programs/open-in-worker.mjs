// Tries to start a child from a worker thread; runs from the built package.
import { parentPort } from "node:worker_threads";
import { openChild } from "@berth/stdio-transport";

const outcome = await openChild({ file: "true", args: [], env: {} }).then(
  () => "opened",
  (error) => error.code,
);
parentPort?.postMessage(outcome);
