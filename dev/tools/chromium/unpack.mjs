// Unpacks FILE.br to OUT, for each pair FILE OUT: Python's standard library has no Brotli.
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";

const files = process.argv.slice(2);
for (let at = 0; at < files.length; at += 2) {
  await pipeline(createReadStream(files[at]), createBrotliDecompress(), createWriteStream(files[at + 1]));
}
