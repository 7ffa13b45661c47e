// One card a call, by its card number.

import fieldveil from "k6/x/fieldveil";
import { anyRow, cardNumber, expectCard } from "../lib/cards.js";

export function connect(work) {
  const { table, columns, rows } = work.data;
  return {
    db: fieldveil.open(work),
    select: `SELECT ${columns.join(", ")} FROM ${table} WHERE card_number1 = $1`,
    columns,
    rows,
  };
}

export function warm(state) {
  state.db.query(state.select, cardNumber(1, 0));
}

export function run(state, iteration) {
  const row = anyRow(iteration, state.rows);
  expectCard(state.db.query(state.select, cardNumber(row, 0)), row, state.columns);
}
