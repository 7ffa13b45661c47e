// A body asked for: as it is known, to the last byte, whatever stands in the service.

import { connect, expect, failure } from "../lib/http.js";

export { connect };

export function run({ http, bodies, space }, iteration) {
  const want = bodies[iteration % bodies.length];
  const got = http.exchange("GET", `/${space}/${want.name}`);
  const right = got.status === 200 && got.bytes === want.look.bytes && got.digest === want.digest;
  expect(right, failure(got, "a body that was asked for"));
}
