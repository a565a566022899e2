import { defineConfig } from "tsup";

export default defineConfig({
  entry: { index: "src/index.ts", stdio: "src/stdio.ts", tasks: "src/tasks.ts", "json-schema": "src/json-schema/index.ts" },
  format: ["esm"],
  dts: true,
  sourcemap: true,
  clean: true,
  target: "node20",
});
