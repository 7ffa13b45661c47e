// What the scenarios share: a connection, and which row is whose turn.

import fieldveil from "k6/x/fieldveil";

export const expect = fieldveil.expect;

// A client's state: its connection, and what the suite gave.
export function connect(work) {
  return { db: fieldveil.open(work), data: work.data };
}

// The first statement on a connection waits for what the proxy must know of the user and of the tables.
export function warm({ db, data }) {
  db.query(`SELECT id FROM ${data.table} WHERE id = $1`, 0);
}

// A row from 1 to `rows`, each iteration another, spread over the table.
export function row(iteration, rows) {
  return ((iteration * 7919 + 104729) % rows) + 1;
}
