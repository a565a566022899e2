import { listedEnvironment, openChild } from "@berth/stdio-transport";

const child = await openChild({ file: "cat", args: [], env: listedEnvironment(process.env) });
try {
  const answer = new Promise((resolve, reject) => {
    child.transport.start({
      onFrame: ({ bytes }) => resolve(Buffer.from(bytes).toString()),
      onFault: (fault) => console.error(`not a frame: ${fault.code} at byte ${fault.offset}`),
      onClose: reject,
    });
  });
  await child.transport.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}'));
  console.log(await answer);
} finally {
  await child.close();
}
console.log(await child.exited, child.stderr.byteCount);
