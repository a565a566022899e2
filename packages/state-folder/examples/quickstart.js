import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPrivateFolder, isStateError, openPrivateFolder, readText, replaceFile } from "@berth/state-folder";

const layout = { format: 1, folders: ["logs"], sockets: ["control.sock"], trusted: "pins.json" };
const place = join(mkdtempSync(join(tmpdir(), "berth-state-")), "state");

const state = await openPrivateFolder(place, layout);
await replaceFile(join(state, "pins.json"), '{"pins":[]}\n');
console.log(await readText(join(state, "pins.json"), 1_000_000));

await replaceFile(join(state, "format.json"), '{"format":2}\n'); // as a newer version of the program would
try {
  await findPrivateFolder(place, layout);
} catch (error) {
  if (isStateError(error)) console.log(error.code);
}
