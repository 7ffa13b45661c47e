// A body sent: the service says what it got, every field sealed where they are protected, and nothing else changed.

import { connect, expect, failure } from "../lib/http.js";

export { connect };

export function run({ http, bodies, space, sealed }, iteration) {
  const body = bodies[iteration % bodies.length];
  const got = http.exchange("POST", `/${space}/${body.name}`, body.file);
  expect(got.status === 200 && asSent(JSON.parse(got.text), body.look, sealed), failure(got, "a body that was sent"));
}

function asSent(seen, look, sealed) {
  if (sealed) {
    return seen.envelopes === look.clear && seen.clear === 0 && seen.outside === look.outside;
  }
  return Object.keys(look).every((name) => seen[name] === look[name]);
}
