// A row by its primary key, three protected columns sealed anew. Every write is of another generation, and each client has
// rows of its own: so what a row must hold is known.

import exec from "k6/execution";
import { connect as open, expect, row, warm } from "../lib/connect.js";
import { contact } from "../lib/values.js";

export { warm };

export function connect(work) {
  const { clients } = work.workload;
  const client = exec.vu.idInTest - 1;
  return { ...open(work), client, clients, own: Math.floor(work.data.rows / clients), turn: 0, generations: new Map() };
}

export function run(state) {
  const { db, data, client, clients, own, generations } = state;
  const id = (row(state.turn++, own) - 1) * clients + client + 1;
  const generation = (generations.get(id) || 0) + 1;
  const statement = `UPDATE ${data.table} SET generation = $1, email = $2, ssn = $3, phone = $4 WHERE id = $5`;
  const updated = db.exec(statement, generation, ...contact(id, generation), id);
  expect.equal(updated, 1, "one row updated");
  generations.set(id, generation);
}
