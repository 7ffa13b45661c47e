// Node's fetch: a request a line on standard input, its answer a line on standard output. With `http2`, Node's client of that.
import * as http2 from "node:http2";
import * as readline from "node:readline";

const answers = process.argv[2] === "http2" ? overHttp2 : byFetch;
let sessions = new Map();

async function byFetch({ method, url, headers, body }) {
  const answer = await fetch(url, { method, headers, body, redirect: "manual" });
  const told = { status: answer.status, protocol: "HTTP/1.1", headers: [...answer.headers], trailers: [] };
  try {
    return { ...told, body: base64(await answer.arrayBuffer()), error: "" };
  } catch (error) {
    return { ...told, body: "", error: String(error) };
  }
}

function overHttp2({ method, url, headers, body }) {
  const { origin, pathname, search } = new URL(url);
  if (!sessions.has(origin)) sessions.set(origin, http2.connect(origin));
  const stream = sessions.get(origin).request({ ":method": method, ":path": pathname + search, ...headers });
  return new Promise((resolve) => {
    const told = { status: 0, protocol: "HTTP/2.0", headers: [], trailers: [], error: "" };
    const pieces = [];
    const pairs = (of) => Object.entries(of).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]));
    stream.on("response", (came) => Object.assign(told, { status: came[":status"], headers: pairs(came) }));
    stream.on("trailers", (came) => Object.assign(told, { trailers: pairs(came) }));
    stream.on("data", (piece) => pieces.push(piece));
    stream.on("error", (error) => Object.assign(told, { error: String(error) }));
    stream.on("aborted", () => Object.assign(told, { error: told.error || "aborted" }));
    stream.on("close", () => resolve({ ...told, body: base64(Buffer.concat(pieces)) }));
    stream.end(body ?? undefined);
  });
}

function base64(bytes) {
  return Buffer.from(bytes).toString("base64");
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.body !== null) request.body = Buffer.from(request.body, "base64");
  let answer;
  try {
    answer = await answers(request);
  } catch (error) {
    answer = { status: 0, protocol: "", headers: [], trailers: [], body: "", error: String(error.cause ?? error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
for (const session of sessions.values()) session.close();
