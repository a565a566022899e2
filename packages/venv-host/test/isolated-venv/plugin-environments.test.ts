import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EnvironmentStore, HeldEnvironment } from "../../src/environments/environment-store.js";
import { type GotEnvironment, pluginEnvironments } from "../../src/index.js";
import { type Installed, makeInstalled, metadata, ofClass } from "../installed/plugin-folder.js";

const request = { requirements: "/plugins/pii/requirements.txt" };

/** A store that gives the same environment to everybody, and counts who holds it. */
function fakeStore(reason?: string): {
  readonly store: Pick<EnvironmentStore, "acquire">;
  readonly held: () => number;
} {
  let count = 0;
  const close = async (): Promise<void> => {
    count -= 1;
  };
  return {
    held: () => count,
    store: {
      acquire: async () => {
        count += 1;
        return { ...environment, reason, close, [Symbol.asyncDispose]: close };
      },
    },
  };
}

const environment: Omit<HeldEnvironment, "close" | "reason" | typeof Symbol.asyncDispose> = {
  key: "0".repeat(64),
  path: "/store/venv",
  python: "/store/venv/bin/python",
  sitePackages: "/store/venv/lib",
  origin: "cached",
  evidence: {
    key: "0".repeat(64),
    digest: "1".repeat(64),
    interpreter: { path: "/usr/bin/python3", version: "3.11.2", sha256: "2".repeat(64) },
    installer: "pip 24",
    confinement: "none",
    builtFromSource: false,
    distributions: [],
  },
};

interface Asked {
  readonly acquire: () => Promise<{ readonly path: string; close(): Promise<void> }>;
  readonly got: GotEnvironment[];
  readonly said: string[];
}

function ask(installed: Installed, store: Pick<EnvironmentStore, "acquire">, fault?: Error): Asked {
  const [got, said]: [GotEnvironment[], string[]] = [[], []];
  const find = pluginEnvironments({
    store,
    onGot: async (one) => {
      got.push(one);
      if (fault !== undefined) throw fault;
    },
  });
  const options = { onProgress: (step: string) => void said.push(step) };
  return { got, said, acquire: () => find(request, options, { name: "pii", ...installed.options }) };
}

describe("the environment of a plugin", () => {
  it("is the one that another host installed, while it is valid: claimed until it is closed", async () => {
    const installed = makeInstalled();
    installed.write(ofClass, metadata(installed));
    const { store, held } = fakeStore();
    const { acquire, got, said } = ask(installed, store);
    const used = await acquire();
    const path = join(installed.home, ".venv");
    expect([used.path, held(), got]).toEqual([path, 0, [{ plugin: "pii", installed: path }]]);
    expect(said).toEqual([`using ${path}, as it was installed`]);
    expect(installed.read("owners.json")).toEqual({ owners: ["pii.filters.PiiFilter"] });
    await used.close();
    expect(existsSync(join(installed.cache, "owners.json"))).toBe(false);
  });

  it("is the store's when the installed one is not valid, and it is told why", async () => {
    const installed = makeInstalled();
    installed.write(ofClass, metadata(installed, { requirements_hash: "0".repeat(64) }));
    const { store, held } = fakeStore("the requirements changed");
    const { acquire, got, said } = ask(installed, store);
    const used = await acquire();
    expect([used.path, held(), got]).toMatchObject([
      "/store/venv",
      1,
      [{ plugin: "pii", held: { key: environment.key } }],
    ]);
    expect(said).toEqual([
      `${join(installed.home, ".venv")} is not used: requirements changed`,
      "built anew: the requirements changed",
    ]);
    await used.close();
    expect(held()).toBe(0);
  });

  it.each([
    { name: "a package is", lost: "pydantic", why: "pydantic/__init__.py of pydantic is missing" },
    { name: "the framework is", lost: "cpex", why: "it has no cpex/framework/isolated/worker.py" },
    { name: "tests only are", lost: "pydantic/tests", why: undefined },
    { name: "nothing is", lost: "nothing", why: undefined },
  ])("is the store's when files of a valid one are lost, and it is told which: $name", async ({ lost, why }) => {
    const installed = makeInstalled();
    installed.write(ofClass, metadata(installed));
    const sitePackages = join(installed.home, ".venv", "lib", "python3", "site-packages");
    const info = join(sitePackages, "pydantic-2.0.dist-info");
    for (const folder of [info, join(sitePackages, "pydantic", "tests")]) mkdirSync(folder, { recursive: true });
    // Longer than was recorded: whoever owns it may have changed it.
    writeFileSync(join(sitePackages, "pydantic", "__init__.py"), "changed = True\n");
    writeFileSync(join(sitePackages, "pydantic", "tests", "one.py"), "");
    writeFileSync(join(info, "RECORD"), "pydantic/__init__.py,,1\npydantic/tests/one.py,,0\n../../../bin/gone.py,,1\n");
    rmSync(join(sitePackages, lost), { recursive: true, force: true });
    const { acquire, said } = ask(installed, fakeStore().store);
    const used = await acquire();
    const path = join(installed.home, ".venv");
    expect(used.path).toBe(why === undefined ? path : "/store/venv");
    expect(said).toEqual([
      why === undefined ? `using ${path}, as it was installed` : `${path} is not used: files missing (${why})`,
    ]);
  });

  it("is the store's without a word when nobody installed one", async () => {
    const { store, held } = fakeStore();
    const { acquire, said } = ask(makeInstalled(), store);
    await acquire();
    expect([held(), said]).toEqual([1, []]);
  });

  it.each([
    { name: "an installed one", isInstalled: true },
    { name: "one of the store", isInstalled: false },
  ])("is let go when who is told of it refuses: $name", async ({ isInstalled }) => {
    const installed = makeInstalled();
    if (isInstalled) installed.write(ofClass, metadata(installed));
    const { store, held } = fakeStore();
    const fault = new Error("the log is full");
    const { acquire, got } = ask(installed, store, fault);
    await expect(acquire()).rejects.toBe(fault);
    expect([got.length, held(), existsSync(join(installed.cache, "owners.json"))]).toEqual([1, 0, false]);
  });
});
