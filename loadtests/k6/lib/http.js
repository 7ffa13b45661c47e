// What scenarios over HTTP share: a client of the service, and the bodies that the suite made.

import fieldveil from "k6/x/fieldveil";

export const expect = fieldveil.expect;

export function connect(work) {
  const { bodies, space, sealed } = work.data;
  return { http: fieldveil.http(work), bodies, space, sealed };
}

// What an answer is told as that is wrong. A problem says of which kind it is; nothing else of it is told.
export function failure({ status, text }, what) {
  const kind = /"type":\s*"(urn:fieldveil:problem:[a-z-]+)"/.exec(text || "");
  return `${what}: status ${status}${kind ? `, ${kind[1]}` : ""}`;
}
