// All rows of a file into a table by COPY: one call.

import fieldveil from "k6/x/fieldveil";

export function connect(work) {
  return { db: fieldveil.open(work), ...work.data };
}

// The filter asks the server what the table is before the first statement.
export function warm(state) {
  state.db.query(`SELECT id FROM ${state.table} WHERE id = 0`);
}

export function run(state) {
  const { rows } = state.db.copyIn(`COPY ${state.table} FROM STDIN`, state.path);
  fieldveil.expect.equal(rows, state.rows, "rows copied in");
  return rows;
}
