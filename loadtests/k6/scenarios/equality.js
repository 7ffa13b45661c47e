// A row by a protected column, through its index.

import { connect, expect, row, warm } from "../lib/connect.js";
import { email, ssn } from "../lib/values.js";

export { connect, warm };

export function run({ db, data }, iteration) {
  const id = row(iteration, data.rows);
  const found = db.query(`SELECT id, name, email FROM ${data.table} WHERE ssn = $1`, ssn(id));
  expect.equal(found, [{ id, name: `name ${id}`, email: email(id) }], "the row by its protected column");
}
