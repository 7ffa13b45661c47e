// One part of a table out, by COPY. Operations are rows.

import fieldveil from "k6/x/fieldveil";

const { expect } = fieldveil;

export function connect(work) {
  return { db: fieldveil.open(work), parts: work.data.parts };
}

export function run({ db, parts }, iteration) {
  const part = parts[iteration % parts.length];
  const out = db.copyOut(`COPY ${part.table} TO STDOUT`);
  expect.equal(out.rows, part.rows, `rows of ${part.table}`);
  expect.equal(out.digest, part.digest, `what ${part.table} holds`);
  return out.rows;
}
