import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

/** The same client that others install. */
const CLIENT = fileURLToPath(new URL("../clients/typescript/src/index.ts", import.meta.url));
const OUT = "../src/whence/web/static";

/** Writes a compressed twin of each file, so that the server compresses nothing itself. */
function compress(): Plugin {
  return {
    name: "compress",
    apply: "build",
    closeBundle() {
      for (const name of readdirSync(join(OUT, "assets"))) {
        if (!/\.(js|css|svg)$/.test(name)) continue;
        const file = join(OUT, "assets", name);
        writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  resolve: { alias: { "whence-client": CLIENT } },
  worker: { format: "es" },
  plugins: [compress()],
  server: {
    proxy: {
      "/api": "http://127.0.0.1:8420",
      "/readyz": "http://127.0.0.1:8420",
      "/openapi.json": "http://127.0.0.1:8420",
    },
  },
});
