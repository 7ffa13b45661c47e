// A part of a table a call, by one SELECT; the digest is that of the values which were written.

import fieldveil from "k6/x/fieldveil";

export function connect(work) {
  const { table, columns, rows, parts, digests } = work.data;
  const names = Array.from({ length: columns }, (_, index) => `c${index + 1}`);
  return {
    db: fieldveil.open(work),
    select: `SELECT id, ${names.join(", ")} FROM ${table} WHERE id > $1 AND id <= $2 ORDER BY id`,
    columns: ["id", ...names],
    part: rows / parts,
    digests,
  };
}

export function warm(state) {
  state.db.query(state.select, 0, 0);
}

export function run(state, iteration) {
  const first = iteration * state.part;
  const { rows, digest } = state.db.digest(state.select, state.columns, first, first + state.part);
  fieldveil.expect.equal(rows, state.part, "rows of a part");
  fieldveil.expect.equal(digest, state.digests[iteration], "the values of a part");
  return rows;
}
