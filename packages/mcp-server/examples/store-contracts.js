import { test } from "node:test";
import { eventStoreContract, taskStoreContract } from "@berth/mcp-server/contracts";
import { createMemoryEventStore } from "@berth/mcp-server/http";
import { createMemoryTaskStore } from "@berth/mcp-server/tasks";

const tasks = taskStoreContract(() => ({ store: createMemoryTaskStore() }), {
  openSmall: () => ({ store: createMemoryTaskStore({ maxBytes: 100_000 }) }),
});
const events = eventStoreContract(() => ({ store: createMemoryEventStore() }));
for (const { name, run } of [...tasks, ...events]) test(name, run);
