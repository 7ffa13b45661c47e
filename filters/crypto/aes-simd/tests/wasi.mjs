// Runs a program that was built for wasm32-wasip1 in Node's V8, which is Envoy's too: docs/internals/aes.md says how.

import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [file, ...rest] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [file, ...rest], env: process.env });
const program = await WebAssembly.compile(await readFile(file));
process.exitCode = wasi.start(await WebAssembly.instantiate(program, wasi.getImportObject()));
