// A message in, and the same message back: one protected field of a given length.

import { connect, expect } from "../lib/connect.js";
import { text } from "../lib/values.js";

export { connect };

export function run({ db, data }, iteration) {
  const id = iteration + 1;
  const body = text(id, data.bytes);
  db.exec("INSERT INTO message (id, body) VALUES ($1, $2)", id, body);
  const rows = db.query("SELECT body FROM message WHERE id = $1", id);
  expect.equal(rows.length, 1, "one message of that number");
  expect.equal(rows[0] && rows[0].body, body, "the message that was written");
}
