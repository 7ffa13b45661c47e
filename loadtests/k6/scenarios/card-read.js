// One card a call, by its primary key.

import fieldveil from "k6/x/fieldveil";
import { anyRow, expectCard } from "../lib/cards.js";

export function connect(work) {
  const { table, columns, rows } = work.data;
  return {
    db: fieldveil.open(work),
    select: `SELECT ${columns.join(", ")} FROM ${table} WHERE card_id = $1`,
    columns,
    rows,
  };
}

export function warm(state) {
  state.db.query(state.select, 1);
}

export function run(state, iteration) {
  const row = anyRow(iteration, state.rows);
  expectCard(state.db.query(state.select, row), row, state.columns);
}
