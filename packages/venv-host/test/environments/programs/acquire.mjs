// Acquires environments as its job says: `{ options, requests, hold, tells }`; prints one line of JSON for each, and with `tells`
// one for each step on the way.
// With `hold` it keeps them until its input ends. Errors are printed as they would be matched on.
import { openEnvironmentStore } from "@berth/venv-host";

const { options, requests, hold, tells } = JSON.parse(process.argv[2]);
try {
  const store = await openEnvironmentStore(options);
  const tell = (held) =>
    console.log(
      JSON.stringify({ key: held.key, python: held.python, origin: held.origin, reason: held.reason ?? null }),
    );
  const onProgress = tells ? (step) => console.log(JSON.stringify({ step })) : undefined;
  await Promise.all(requests.map((request) => store.acquire(request, { onProgress }).then(tell)));
  if (hold) for await (const _ of process.stdin);
  await store.close();
} catch (error) {
  console.log(JSON.stringify({ code: error.code ?? error.name, message: error.message, details: error.details }));
  process.exitCode = 1;
}
