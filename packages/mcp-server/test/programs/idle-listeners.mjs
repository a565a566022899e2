// Many clients that listen and do nothing else, for the files that one process may have open are not enough for both ends. Arguments: port, count, and
// the request as its bytes. Writes a line when all were acknowledged, and one when all have heard something.
import { connect } from "node:net";

const [port, count, bytes] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4]];
const told = { acknowledged: 0, list_changed: 0 };

function listen() {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk) => {
      for (const word of Object.keys(told)) {
        if (!chunk.includes(word)) continue;
        told[word] += 1;
        if (told[word] === count) console.log(word);
      }
      resolve();
    });
  });
}

for (let opened = 0; opened < count; opened += 50) {
  await Promise.all(Array.from({ length: Math.min(50, count - opened) }, listen));
}
