/** The port of the inside's own loopback at which the forwarder to the egress proxy listens. */
export const egressPort = 3_128;

/** Where the socket of an egress proxy lies inside. */
export const egressSocketPath = "/run/berth/egress.sock";

const proxyUrl = `http://127.0.0.1:${egressPort}`;
const ownMachine = "localhost,127.0.0.1,::1";

/** What makes clients use the proxy. Node's own fetch looks at the others only with NODE_USE_ENV_PROXY (Node 24). */
const proxyVariables: readonly (readonly [string, string])[] = [
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap(
    (name) =>
      [
        [name, proxyUrl],
        [name.toLowerCase(), proxyUrl],
      ] as const,
  ),
  ["NO_PROXY", ownMachine],
  ["no_proxy", ownMachine],
  ["NODE_USE_ENV_PROXY", "1"],
];

/** The environment with the proxy's variables; one that the caller set stays as it is. Pure. */
export function withProxyVariables(
  env: readonly (readonly [string, string])[],
): readonly (readonly [string, string])[] {
  const named = new Set(env.map(([name]) => name));
  return [...env, ...proxyVariables.filter(([name]) => !named.has(name))];
}

/** Programs that can carry the forwarder, as they are found inside; undefined when there is none. Pure. */
export function forwarderCommand(tools: {
  readonly socat: string | undefined;
  readonly python: string | undefined;
}): readonly string[] | undefined {
  const { socat, python } = tools;
  if (socat !== undefined)
    return [socat, `TCP-LISTEN:${egressPort},bind=127.0.0.1,fork,backlog=128`, `UNIX-CONNECT:${egressSocketPath}`];
  return python === undefined ? undefined : [python, "-I", "-S", "-c", pythonForwarder];
}

/** A thread for each direction: without imports beyond these it is up in about the time of a bare start. */
const pythonForwarder = `
import _thread, socket
def pump(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        for end in one, other:
            try: end.shutdown(socket.SHUT_RDWR)
            except OSError: pass
def serve(client):
    with client, socket.socket(socket.AF_UNIX) as proxy:
        try: proxy.connect("${egressSocketPath}")
        except OSError: return
        done = _thread.allocate_lock()
        done.acquire()
        def back():
            pump(proxy, client)
            done.release()
        _thread.start_new_thread(back, ())
        pump(client, proxy)
        done.acquire()
listener = socket.create_server(("127.0.0.1", ${egressPort}), backlog=128)
while True:
    _thread.start_new_thread(serve, (listener.accept()[0],))
`;
