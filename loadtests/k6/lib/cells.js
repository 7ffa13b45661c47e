// Cells of a table of character fields: as in `loadtests/suites/fieldproc.py`.

import { text } from "./values.js";

const CHARACTERS = 11;

// Columns count from 1; an update writes generation 1 over generation 0.
export function cell(row, column, generation) {
  return text(row * 100 + column * 2 + generation, CHARACTERS);
}
