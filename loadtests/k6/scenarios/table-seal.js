// A whole table sealed in place by the command: one call.

import fieldveil from "k6/x/fieldveil";

export function connect(work) {
  return work.data;
}

export function run(state) {
  const { rows, written, faulty } = JSON.parse(fieldveil.command(state.command, { env: state.env }).stdout);
  fieldveil.expect.equal([rows, written, faulty].join(), [state.rows, state.rows, 0].join(), "rows sealed");
  return rows;
}
