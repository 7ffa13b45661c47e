// A row by its primary key, three protected columns sealed anew. The row stays as it is for those who read it.

import { connect, expect, row } from "../lib/connect.js";
import { email, phone, ssn } from "../lib/values.js";

export { connect };

export function run({ db, data }, iteration) {
  const id = row(iteration, data.rows);
  const statement = `UPDATE ${data.table} SET email = $1, ssn = $2, phone = $3 WHERE id = $4`;
  const updated = db.exec(statement, email(id), ssn(id), phone(id), id);
  expect.equal(updated, 1, "one row updated");
}
