// Reads counters ten times a second and writes a line each time, until it is ended. PROCESSES: as in a work document.

import { sleep } from "k6";
import fieldveil from "k6/x/fieldveil";

const PERIOD_SECONDS = 0.1;
const processes = JSON.parse(__ENV.PROCESSES);

export const options = { scenarios: { meter: { executor: "constant-vus", vus: 1, duration: "24h" } } };

export default function () {
  // The line's time is the reading's middle: a slow reading is no earlier and no later than it was.
  const before = Date.now();
  const usage = fieldveil.usage(processes);
  console.log(JSON.stringify({ at: (before + Date.now()) / 2000, usage }));
  sleep(PERIOD_SECONDS);
}
