// Values made of a row's number: the same as in `loadtests/values.py`, which says more.

const FACTOR = 7919;
const OFFSET = 104729;
const VERSION = 1_234_567;

export function digits(number, width) {
  return String((number * FACTOR + OFFSET) % 10 ** width).padStart(width, "0");
}

export function ssn(number) {
  const all = digits(number, 9);
  return `${all.slice(0, 3)}-${all.slice(3, 5)}-${all.slice(5)}`;
}

export function email(number) {
  return `u${number}@example.com`;
}

export function phone(number) {
  return `+1 555 ${digits(number, 7)}`;
}

export function contact(number, version) {
  const state = number + version * VERSION;
  return [email(state), ssn(state), phone(state)];
}

export function text(number, length) {
  const word = `${digits(number, 9)} `;
  return word.repeat(Math.floor(length / word.length) + 1).slice(0, length);
}
