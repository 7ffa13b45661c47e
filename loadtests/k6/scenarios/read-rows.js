// Many rows by a range of the primary key, three protected columns opened in each.

import { connect, expect, warm } from "../lib/connect.js";

export { connect, warm };

const COLUMNS = ["id", "name", "email", "ssn", "phone"];

export function run({ db, data }, iteration) {
  const part = iteration % data.digests.length;
  const first = part * data.length + 1;
  const select = `SELECT ${COLUMNS.join(", ")} FROM ${data.table} WHERE id >= $1 AND id < $2 ORDER BY id`;
  const { rows, digest } = db.digest(select, COLUMNS, first, first + data.length);
  expect.equal(digest, data.digests[part], `${data.length} rows by a range of the key`);
  return rows;
}
