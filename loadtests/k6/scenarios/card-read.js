// One card a call: by its primary key, or by its card number.

import fieldveil from "k6/x/fieldveil";
import { cardNumber, expectCard } from "../lib/cards.js";
import { row } from "../lib/connect.js";

const KEYS = { card_id: (id) => id, card_number1: (id) => cardNumber(id, 0) };

export function connect(work) {
  const { table, columns, rows, by } = work.data;
  return {
    db: fieldveil.open(work),
    select: `SELECT ${columns.join(", ")} FROM ${table} WHERE ${by} = $1`,
    key: KEYS[by],
    columns,
    rows,
  };
}

export function warm(state) {
  state.db.query(state.select, state.key(1));
}

export function run(state, iteration) {
  const id = row(iteration, state.rows);
  expectCard(state.db.query(state.select, state.key(id)), id, state.columns);
}
