// Some rows a call, in one transaction: all are read, so that they are opened, and each is updated by a statement.

import fieldveil from "k6/x/fieldveil";
import { cell } from "../lib/cells.js";

export function connect(work) {
  const { table, protected: count, transaction } = work.data;
  const columns = Array.from({ length: count }, (_, index) => index + 1);
  const names = columns.map((column) => `c${column}`);
  return {
    db: fieldveil.open(work),
    select: `SELECT ${names.join(", ")} FROM ${table} WHERE id >= $1 AND id < $2 ORDER BY id`,
    update: `UPDATE ${table} SET ${names.map((name, index) => `${name} = $${index + 2}`).join(", ")} WHERE id = $1`,
    columns,
    names,
    transaction,
  };
}

export function warm(state) {
  state.db.query(state.select, 0, 0);
  state.db.exec(state.update, 0, ...state.names);
}

export function run(state, iteration) {
  const { db, columns, names, transaction } = state;
  const first = iteration * transaction + 1;
  db.exec("BEGIN");
  const found = db.query(state.select, first, first + transaction);
  fieldveil.expect.equal(found.length, transaction, "rows of a transaction");
  found.forEach((cells, index) => {
    const row = first + index;
    const wanted = columns.map((column) => cell(row, column, 0));
    fieldveil.expect.equal(names.map((name) => cells[name]).join("|"), wanted.join("|"), "a row before its update");
    const updated = db.exec(state.update, row, ...columns.map((column) => cell(row, column, 1)));
    fieldveil.expect.equal(updated, 1, "rows updated");
  });
  db.exec("COMMIT");
  return found.length;
}
