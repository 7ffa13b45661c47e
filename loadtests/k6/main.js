// The one entry script: reads the work that the environment variable WORK names, lets the clients do it by the
// scenario's module, and writes what was found.

import exec from "k6/execution";
import fieldveil from "k6/x/fieldveil";

const work = JSON.parse(open(__ENV.WORK));
const scenario = require(`./scenarios/${work.script}.js`);

// A client that is still at it so many seconds after its time hangs. Fixed work takes as long as it takes.
const GRACE_SECONDS = work.workload.kind === "fixed" ? 86400 : 300;

// One iteration of k6's is one client's whole life; the extension counts its calls and keeps the time. So k6 spends
// nothing on the single call, every client is connected before the first is measured, and what is read of the
// processes is read at the window's two ends.
export const options = {
  scenarios: {
    work: {
      executor: "per-vu-iterations",
      vus: work.workload.clients,
      iterations: 1,
      maxDuration: `${Math.ceil(work.warm_up_seconds + work.workload.seconds) + GRACE_SECONDS}s`,
      gracefulStop: "1s",
    },
  },
  thresholds: {
    wrong_answers: ["count==0"],
    errors: ["count==0"],
    // Told with the result: there is none where clients could not begin, or did not end.
    operations: ["count>0"],
  },
  summaryTrendStats: ["min", "p(50)", "p(99)", "p(99.9)", "max"],
};

export default function () {
  const client = fieldveil.client(work, exec.vu.idInTest - 1, exec.instance.vusInitialized);
  try {
    const state = scenario.connect(work);
    if (scenario.warm) {
      scenario.warm(state);
    }
    client.ready();
    for (let iteration = client.next(); iteration >= 0; iteration = client.next()) {
      client.done(scenario.run(state, iteration));
    }
  } catch (error) {
    client.failed(String(error));
  } finally {
    client.end();
  }
}

export function handleSummary() {
  return { [work.result]: `${fieldveil.result()}\n` };
}
