// One card a call: by its primary key, or by its card number.

import fieldveil from "k6/x/fieldveil";
import { card, cardNumber } from "../lib/cards.js";
import { row } from "../lib/connect.js";

const KEYS = { card_id: (id) => id, card_number1: (id) => cardNumber(id, 0) };

// What is asked and what must come is made before: it would take longer than the server does.
export function connect(work) {
  const { table, columns, rows, by } = work.data;
  const calls = Array.from({ length: work.workload.operations }, (_, iteration) => {
    const id = row(iteration, rows);
    return { key: KEYS[by](id), wanted: card(id).join("|") };
  });
  return {
    db: fieldveil.open(work),
    select: `SELECT ${columns.join(", ")} FROM ${table} WHERE ${by} = $1`,
    columns,
    calls,
  };
}

export function warm(state) {
  state.db.query(state.select, state.calls[0].key);
}

export function run(state, iteration) {
  const { key, wanted } = state.calls[iteration];
  const found = state.db.query(state.select, key);
  const cells = found.map((one) => state.columns.map((name) => one[name]).join("|"));
  fieldveil.expect.equal(cells.join("\n"), wanted, "the card of a key");
}
