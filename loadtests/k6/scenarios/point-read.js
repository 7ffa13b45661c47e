// A row by its primary key, three protected columns opened.

import { connect, expect, row, warm } from "../lib/connect.js";
import { email, phone, ssn } from "../lib/values.js";

export { connect, warm };

export function run({ db, data }, iteration) {
  const id = row(iteration, data.rows);
  const found = db.query(`SELECT name, email, ssn, phone FROM ${data.table} WHERE id = $1`, id);
  const want = [{ name: `name ${id}`, email: email(id), ssn: ssn(id), phone: phone(id) }];
  expect.equal(found, want, "the row by its key");
}
