// An answer of long values, by a range of the primary key. The operation is the answer.

import { connect, expect, warm } from "../lib/connect.js";

export { connect, warm };

const COLUMNS = ["id", "body"];

export function run({ db, data }, iteration) {
  const part = iteration % data.digests.length;
  const first = part * data.length + 1;
  const select = `SELECT ${COLUMNS.join(", ")} FROM ${data.table} WHERE id >= $1 AND id < $2 ORDER BY id`;
  const { digest } = db.digest(select, COLUMNS, first, first + data.length);
  expect.equal(digest, data.digests[part], `${data.length} long values by a range of the key`);
}
