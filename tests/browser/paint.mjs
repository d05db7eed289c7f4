// First paint of the console's pages, and what pages with live parts cost the database's server. Arguments: address,
// token, number of open pages, seconds for which they are open, process of the database's server.
import { readFileSync, readdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [server, token, pages, seconds, postmaster] = process.argv.slice(2);
const TRIES = 9;
const TICKS_A_SECOND = 100;
const root = `${server}/console`;
const places = {
  overview: '', flows: '/flows', flow: '/flows/orders', instances: '/flows/orders/instances',
  'instances by value': '/flows/orders/instances?where=n%20%3D%202', exceptions: '/exceptions', jobs: '/jobs',
  instance: '/flows/orders/instances/500000', why: '/flows/orders/instances/500000/why', 'last hour': '/last-hour',
};

function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return [sorted[sorted.length >> 1], sorted[0], sorted.at(-1)].map((value) => Math.round(value));
}

/** Processor time of the server with all its sessions, those that ended included, in seconds. */
function computed() {
  let ticks = 0;
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (name === postmaster) ticks += Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]);
      else if (fields[1] === postmaster) ticks += Number(fields[11]) + Number(fields[12]);
    } catch { /* It has ended meanwhile. */ }
  }
  return ticks / TICKS_A_SECOND;
}

async function share(during) {
  const [before, begin] = [computed(), performance.now()];
  await during();
  return ((computed() - before) / ((performance.now() - begin) / 1000)) * 100;
}

const pause = (time) => new Promise((done) => setTimeout(done, time * 1000));
const browser = await chromium.launch({
  executablePath: process.env.WEDFLOW_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'],
});
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addCookies([{ name: 'wedflow_session', value: token, domain: new URL(server).hostname, path: '/console' }]);
  const page = await context.newPage();
  console.log('page | first paint (ms) | least | most | answer (ms) | least | most');
  for (const [name, path] of Object.entries(places)) {
    const [paints, answers] = [[], []];
    for (let tried = 0; tried < TRIES; tried += 1) {
      await page.goto(root + path);
      await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length);
      const told = await page.evaluate(() => [
        performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
        performance.getEntriesByType('navigation')[0].responseEnd,
      ]);
      paints.push(told[0]);
      answers.push(told[1]);
    }
    console.log([name, ...spread(paints), ...spread(answers)].join(' | '));
  }
  await page.close();
  const idle = await share(() => pause(seconds / 3));
  const open = await Promise.all(Array.from({ length: Number(pages) }, async (_, number) => {
    const one = await context.newPage();
    await one.goto(`${root}${['', '/flows/orders', '/flows/orders/instances'][number % 3]}`);
    return one;
  }));
  await pause(5);
  const watched = await share(() => pause(Number(seconds)));
  console.log(`database: ${idle.toFixed(1)} % of a core without pages, ${watched.toFixed(1)} % with ${open.length} open`);
} finally {
  await browser.close();
}
