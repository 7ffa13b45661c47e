// One card a call, its number that of the call.

import fieldveil from "k6/x/fieldveil";
import { card } from "../lib/cards.js";

// The cards are made before: it would take longer than the server does.
export function connect(work) {
  const { table, columns } = work.data;
  const parameters = columns.map((_, index) => `$${index + 1}`);
  return {
    db: fieldveil.open(work),
    table,
    insert: `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${parameters.join(", ")})`,
    cards: Array.from({ length: work.workload.operations }, (_, iteration) => card(iteration + 1)),
  };
}

// The filter asks the server what the table is before the first statement.
export function warm(state) {
  state.db.query(`SELECT card_id FROM ${state.table} WHERE card_id = 0`);
}

export function run(state, iteration) {
  const inserted = state.db.exec(state.insert, ...state.cards[iteration]);
  fieldveil.expect.equal(inserted, 1, "rows inserted");
}
