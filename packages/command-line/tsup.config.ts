import { defineConfig } from "tsup";

export default defineConfig({
  entry: ["src/index.ts", "src/audit/index.ts", "src/config/index.ts", "src/doctor/index.ts", "src/http/index.ts"],
  format: ["esm"],
  dts: true,
  sourcemap: true,
  clean: true,
  target: "node22",
});
