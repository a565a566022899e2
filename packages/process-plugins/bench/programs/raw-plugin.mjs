import { spawn } from "node:child_process";
import { once } from "node:events";

const system = ["usr/bin", "usr/sbin", "usr/lib", "usr/lib64"].flatMap((path) => [
  "--symlink",
  path,
  `/${path.slice(4)}`,
]);

/** What bubblewrap alone needs to run the same executable: its folder, its data, the system, no network. */
function wrapped({ root, data, name }) {
  const folders = ["--ro-bind", "/usr", "/usr", ...system, "--ro-bind", root, root, "--bind", data, "/plugin-data"];
  const linked = ["/etc/alternatives", "/etc/ld.so.cache"].flatMap((path) => ["--ro-bind-try", path, path]);
  const mounts = [...linked, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"];
  const variables = {
    PLUGIN_ROOT: root,
    PLUGIN_DATA: "/plugin-data",
    PLUGIN_NAME: name,
    AVE_PROTOCOL: "1",
    HOME: "/plugin-data/home",
    TMPDIR: "/plugin-data/tmp",
    PATH: "/usr/bin:/bin",
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
  };
  const environment = Object.entries(variables).flatMap(([key, value]) => ["--setenv", key, value]);
  const held = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--chdir", root];
  return [...held, ...mounts, ...folders, ...environment, `${root}/bin/plugin`];
}

/** The same executable under bubblewrap, and a client that writes lines and reads them. */
export async function openRawPlugin(place) {
  const child = spawn("bwrap", wrapped(place), { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const gone = exited.then(([code]) => Promise.reject(new Error(`the raw plugin ended with ${code}`)));
  gone.catch(() => {}); // it is to end at last
  let rest = "";
  let settle = () => {};
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    rest += chunk;
    const end = rest.indexOf("\n");
    if (end === -1) return;
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    settle(JSON.parse(line));
  });
  let id = 0;
  const ask = async (method, params) => {
    id += 1;
    const answered = new Promise((resolve) => {
      settle = resolve;
    });
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const answer = await Promise.race([answered, gone]);
    if (answer.id !== id || answer.result === undefined) throw new Error(`${method}: ${JSON.stringify(answer)}`);
    return answer.result;
  };
  await ask("ave/instance/create", {
    instanceId: "raw",
    protocol: 1,
    host: { name: "bench", version: "1" },
    plugin: { name: place.manifestName, version: "1.0.0" },
    dataDir: "/plugin-data",
    limits: { maxMessageBytes: 4_194_304, callTimeoutMs: 60_000 },
  });
  await ask("ave/instance/start", {});
  return {
    ask,
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}
