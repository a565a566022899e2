import { defineConfig } from "tsup";

export default defineConfig([
  {
    entry: ["src/main.ts"],
    format: ["esm"],
    dts: false,
    sourcemap: true,
    // Both builds run at once: neither may remove what is the other's.
    clean: ["!page/**"],
    splitting: true,
    target: "node22",
  },
  {
    entry: { page: "src/page/main.ts" },
    outDir: "dist/page",
    publicDir: "src/page/static",
    tsconfig: "src/page/tsconfig.json",
    platform: "browser",
    format: ["esm"],
    dts: false,
    clean: true,
    target: "es2022",
  },
]);
