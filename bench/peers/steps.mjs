// Three steps of work, one after the other, for COUNT pieces of work, in another durable executor.
//
//   node steps.mjs graphile-worker|pg-boss|dbos|absurd DATABASE_URL COUNT
//
// Each step reads the state that the one before left, changes it as the sample component does, and hands
// it on through the executor's own storage. Settings are the executors' defaults where they are durable,
// and what their documentation advises for throughput otherwise. Prints {"steps": n, "seconds": s}.

import { execFileSync } from "node:child_process";

const [peer, url, countText] = process.argv.slice(2);
const count = Number(countText);
const STEPS = 3;

/** What a step does. */
function advance(state) {
  return { ...state, step: state.step + 1, note: `step ${state.step} of ${state.id} for ${state.customer}` };
}

/** The state a piece of work begins with, as wide as the sample component's. */
function begin(id) {
  return {
    id, step: 0, note: null, customer: "ann", product: "tea", quantity: 3, price: "12.50", paid: false,
    city: "Paris", street: "Rue Monge 12", remark: null,
  };
}

/** Resolves when all pieces have taken their last step. */
function latch() {
  let left = count;
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { done: () => { if (--left === 0) open(); }, opened };
}

const peers = {
  async "graphile-worker"() {
    const { run, makeWorkerUtils, Logger } = await import("graphile-worker");
    const logger = new Logger(() => () => {}); // a line for each job would be what is measured
    const { done, opened } = latch();
    const preset = { worker: { connectionString: url, logger, concurrentJobs: 24, localQueue: { size: 500 }, maxPoolSize: 10 } };
    const utils = await makeWorkerUtils({ connectionString: url, logger });
    await utils.migrate();
    const runner = await run({
      preset,
      noHandleSignals: true,
      taskList: {
        async step(payload, helpers) {
          const state = advance(payload);
          if (state.step === STEPS) done();
          else await helpers.addJob("step", state);
        },
      },
    });
    const begun = performance.now();
    for (let at = 0; at < count; at += 500) {
      const jobs = Array.from({ length: Math.min(500, count - at) }, (_, n) => ({ identifier: "step", payload: begin(at + n) }));
      await utils.addJobs(jobs);
    }
    await opened;
    const seconds = (performance.now() - begun) / 1000;
    await runner.stop();
    await utils.release();
    return seconds;
  },

  async "pg-boss"() {
    const module = await import("pg-boss");
    const PgBoss = module.PgBoss ?? module.default;
    const boss = new PgBoss({ connectionString: url, max: 10 });
    boss.on("error", (error) => { throw error; });
    await boss.start();
    const { done, opened } = latch();
    await boss.createQueue("step");
    const work = async (jobs) => {
      const next = [];
      for (const job of jobs) {
        const state = advance(job.data);
        if (state.step === STEPS) done();
        else next.push({ data: state });
      }
      if (next.length > 0) await boss.insert("step", next);
    };
    // Batches, because one job a fetch is what its documentation warns of.
    for (let worker = 0; worker < 4; worker++) {
      await boss.work("step", { batchSize: 250, pollingIntervalSeconds: 0.5 }, work);
    }
    const begun = performance.now();
    for (let at = 0; at < count; at += 500) {
      const jobs = Array.from({ length: Math.min(500, count - at) }, (_, n) => ({ data: begin(at + n) }));
      await boss.insert("step", jobs);
    }
    await opened;
    const seconds = (performance.now() - begun) / 1000;
    await boss.stop({ graceful: false });
    return seconds;
  },

  async dbos() {
    const { DBOS } = await import("@dbos-inc/dbos-sdk");
    DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, logLevel: "error", runAdminServer: false });
    const workflow = DBOS.registerWorkflow(async (id) => {
      let state = begin(id);
      for (let step = 0; step < STEPS; step++) {
        state = await DBOS.runStep(async () => advance(state), { name: `step${step}` });
      }
      return state.step;
    }, { name: "three" });
    await DBOS.launch();
    const begun = performance.now();
    // So many at once; more gain nothing.
    let next = 0;
    await Promise.all(Array.from({ length: 100 }, async () => {
      while (next < count) await workflow(next++);
    }));
    const seconds = (performance.now() - begun) / 1000;
    await DBOS.shutdown();
    return seconds;
  },

  async absurd() {
    const { Absurd } = await import("absurd-sdk");
    const { default: pg } = await import("pg");
    execFileSync("absurdctl", ["init", "--database", url]); // the schema is in its command line tool alone
    const pool = new pg.Pool({ connectionString: url, max: 20 });
    const { done, opened } = latch();
    const wrapTaskExecution = async (_, execute) => { await execute(); done(); };
    const app = new Absurd({ db: pool, queueName: "bench", hooks: { wrapTaskExecution } });
    await app.createQueue();
    app.registerTask({ name: "three" }, async (state, context) => {
      for (let step = 0; step < STEPS; step++) {
        const before = state;
        state = await context.step(`step${step}`, async () => advance(before));
      }
      return state.step;
    });
    await app.startWorker({ concurrency: 100 });
    const client = await pool.connect();
    const bound = app.bindToConnection(client);
    const begun = performance.now();
    for (let at = 0; at < count; at += 500) {
      await client.query("BEGIN");
      for (let id = at; id < Math.min(at + 500, count); id++) await bound.spawn("three", begin(id));
      await client.query("COMMIT");
    }
    client.release();
    await opened;
    const seconds = (performance.now() - begun) / 1000;
    await app.close();
    await pool.end();
    return seconds;
  },
};

if (!(peer in peers) || !url || !(count > 0)) {
  console.error(`usage: node steps.mjs ${Object.keys(peers).join("|")} DATABASE_URL COUNT`);
  process.exit(2);
}
const seconds = await peers[peer]();
console.log(JSON.stringify({ steps: count * STEPS, seconds }));
process.exit(0);
