// One part of a table in, by COPY. Operations are rows.

import fieldveil from "k6/x/fieldveil";

export function connect(work) {
  return { db: fieldveil.open(work), parts: work.data.parts };
}

export function run({ db, parts }, iteration) {
  const part = parts[iteration % parts.length];
  const { rows } = db.copyIn(`COPY ${part.table} FROM STDIN`, part.file);
  fieldveil.expect.equal(rows, part.rows, `rows taken by ${part.table}`);
  return rows;
}
