// Applications that do what applications should not.
import { createMcpServer } from "@berth/mcp-server";

const server = (tools, more = {}) =>
  createMcpServer({ identity: { name: "faulty", version: "1" }, authorize: () => true, tools, ...more });
const tool = (name, handler) => ({
  name,
  description: name,
  inputSchema: { type: "object" },
  permission: "p",
  handler,
});

class Told extends Error {}

export const createBroken = async () =>
  server(
    [
      tool("breaks", () => {
        throw new Error("the secret is 1234");
      }),
      tool("tells", () => {
        throw new Told("try another name");
      }),
      tool(
        "waits",
        ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      ),
    ],
    { isSafeError: (error) => error instanceof Told },
  );
const prints = () => {
  console.log("called");
  return { content: [] };
};
export const createPrinting = () => {
  console.log("made");
  process.stdout.write("with care\n");
  return server([tool("prints", prints)]);
};
export const createNothing = () => ({ name: "no server" });
export const createThrowing = () => {
  throw new TypeError("the factory's own fault");
};
export const value = 3;
