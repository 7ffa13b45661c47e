// A row by its primary key, as its reader may see it: masked, nulled or concealed.

import { connect as open, expect, row, warm } from "../lib/connect.js";
import { digits, email, phone, ssn } from "../lib/values.js";

export { warm };

export function connect(work) {
  const state = open(work);
  return { ...state, want: work.sealed ? SEEN[work.user] : clear, stored: work.data.stored };
}

export function run({ db, data, want, stored }, iteration) {
  const id = row(iteration, data.rows);
  const [found] = db.query(`SELECT email, ssn, phone FROM ${data.table} WHERE id = $1`, id);
  want(found, id, stored);
}

const SEEN = { support: masked, auditor: concealed };

function clear(found, id) {
  expect.equal(found, { email: email(id), ssn: ssn(id), phone: phone(id) }, "the row in clear");
}

function masked(found, id) {
  const last = digits(id, 9).slice(5);
  expect.equal(found, { email: "u***@e***.com", ssn: `***-**-${last}`, phone: null }, "the row masked");
}

// What stands in the database, read straight from the server.
function concealed(found, id, stored) {
  const [email, ssn, phone] = stored[id - 1];
  expect.equal(found, { email, ssn, phone }, "the row concealed");
}
