// A new row, three protected columns sealed.

import { connect, expect, warm } from "../lib/connect.js";
import { email, phone, ssn } from "../lib/values.js";

export { connect, warm };

export function run({ db, data }, iteration) {
  const id = iteration + 1;
  const statement = `INSERT INTO ${data.table} (id, name, email, ssn, phone) VALUES ($1, $2, $3, $4, $5)`;
  const inserted = db.exec(statement, id, `name ${id}`, email(id), ssn(id), phone(id));
  expect.equal(inserted, 1, "one row inserted");
}
