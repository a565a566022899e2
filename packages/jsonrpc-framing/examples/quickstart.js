import {
  checkFrame,
  createLineDecoder,
  createPendingCalls,
  encodeLine,
  replaceId,
  scanEnvelope,
} from "@berth/jsonrpc-framing";

const decoder = createLineDecoder({ maxFrameBytes: 1_048_576 });
const calls = createPendingCalls({ timeoutMs: 5_000 });

// What a peer wrote, cut anywhere by the pipe: a print that is no message, and an answer whose id comes last.
const written = Buffer.from('warming up\n{"result":{"n":12345678901234567890},"jsonrpc":"2.0","id":7}\n');
const answer = calls.register(7);

for (const chunk of [written.subarray(0, 20), written.subarray(20)]) {
  for (const frame of decoder.push(chunk)) {
    const fault = checkFrame(frame);
    if (fault !== undefined) {
      console.log(`${fault.code} at byte ${fault.offset}`);
      continue;
    }
    const envelope = scanEnvelope(frame.bytes);
    calls.settle(envelope.id.value, replaceId(frame.bytes, envelope, "client-1"));
  }
}

console.log(Buffer.from(await answer).toString()); // every byte as it came, but for the id
process.stdout.write(encodeLine({ jsonrpc: "2.0", method: "notifications/initialized" }));
calls.close();
