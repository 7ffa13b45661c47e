// A card of 13 columns, made of its row's number: as in `loadtests/suites/sqlcredit.py`.

import { digits, text } from "./values.js";

const FIRST = 4_000_000_000_000_000;
const PARTS = [0, 1, 2, 3];

export function cardNumber(row, part) {
  return FIRST + Number(digits(row * 4 + part, 9));
}

export function card(row) {
  return [
    row,
    ...PARTS.map((part) => cardNumber(row, part)),
    ...PARTS.map((part) => Number(digits(row * 4 + part, 4))),
    ...PARTS.map((part) => text(row * 4 + part, 36)),
  ];
}
