// A person's work in headless Chromium, behind a network that this program cuts, loses answers of, or answers for. Its
// argument says where, with which tokens, and what is played. Ends with 1 at the first thing that is wrong.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import assert from 'node:assert/strict';
import { check, keep, launch, signIn } from './checks.mjs';

const asked = JSON.parse(process.argv[2]);
const server = new URL(asked.server);
const faults = [];
let network = 'there';
let reports = 0;
const ranges = [];

/** A network: there, cut, one that loses the answers of reports, or one of a hotel. */
const between = http.createServer((request, response) => {
  const isReport = request.method === 'POST' && request.url.endsWith('/report');
  if (isReport) reports += 1;
  if (network === 'cut') { request.socket.destroy(); return; }
  if (network === 'hotel' || network === 'proxy' || network === 'filter' && isReport) {
    response.writeHead(network === 'proxy' ? 404 : 200, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>Hotel</title><h1>Please log in</h1>');
    return;
  }
  const { method, url, headers } = request;
  const isFile = method === 'GET' && url.includes('/attachments/');
  if (isFile) ranges.push(headers.range);
  const onward = http.request({ host: server.hostname, port: server.port, method, path: url, headers }, (answer) => {
    if (network === 'lossy' && isReport) { network = 'there'; answer.resume(); request.socket.destroy(); return; }
    response.writeHead(answer.statusCode, answer.headers);
    if (isFile && headers.range === 'bytes=0-') {
      // A copy of a file that begins is cut after its first part.
      answer.once('data', (part) => {
        response.write(part.subarray(0, 1_000), () => setTimeout(() => request.socket.destroy(), 200));
      });
      return;
    }
    answer.pipe(response);
  });
  onward.on('error', () => request.socket.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
});
await new Promise((done) => { between.listen(0, '127.0.0.1', done); });
const root = `http://127.0.0.1:${between.address().port}/console/work`;

async function open(browser, width, scheme, token) {
  const context = await browser.newContext({
    viewport: { width, height: 900 }, colorScheme: scheme, locale: asked.language ?? 'en' });
  await signIn(context, asked.server, token);
  const page = await context.newPage();
  const wrong = (what) => faults.push(`${page.url()} at ${width}, ${scheme}: ${what}`);
  page.on('pageerror', (error) => wrong(String(error)));
  page.setDefaultTimeout(60_000);
  return { context, page, wrong };
}

/** True if the device has the item whole, and the page for when there is no network. */
const isCopied = (page, item) => page.evaluate(async (number) => {
  const mark = localStorage.getItem('wedflow-work');
  if (!mark || !(await navigator.serviceWorker.getRegistration('/console/work'))?.active) return false;
  const store = await new Promise((done) => {
    const request = indexedDB.open(`wedflow ${mark}`);
    // Only the page makes its store.
    request.onupgradeneeded = () => request.transaction.abort();
    request.onerror = () => done(null);
    request.onsuccess = () => done(request.result);
  });
  if (!store) return false;
  const one = await new Promise((done) => {
    const request = store.transaction('item').objectStore('item').get(number);
    request.onsuccess = () => done(request.result);
  });
  store.close();
  return one?.entry?.state === 'LOCKED' && one.document?.state === 'LOCKED' && one.page.includes('data-result');
}, item);

/** Locks the item, and waits until it is copied. */
async function lock(page) {
  await page.goto(root);
  await page.getByRole('link', { name: 'visit' }).click();
  await page.getByRole('button', { name: 'Lock, to take it away' }).click();
  await page.getByText('It is locked for you').waitFor();
  // A wait for a function takes the promise of an answer for one.
  for (let tries = 0; !await isCopied(page, asked.item); tries += 1) {
    assert.ok(tries < 600, 'the item is copied');
    await page.waitForTimeout(100);
  }
}

/** Gets ready to go: the device has the item whole, and the file, which was cut, from the byte where that was. */
async function ready(page) {
  await page.goto(root);
  await page.getByText('Go away with what is locked').click();
  await page.getByRole('button', { name: 'Get ready to go' }).click();
  await page.getByText('You may go: 1 locked items are here.').waitFor();
  assert.equal(ranges[0], 'bytes=0-');
  assert.ok(ranges.includes('bytes=1000-'), ranges.join());
}

/** The file is there without a network, as it was sent. */
async function readFile(page) {
  await page.goto(`${root}/items/${asked.item}`);
  const link = page.getByRole('link', { name: 'plan.txt' });
  const [file] = await Promise.all([page.waitForEvent('download'), link.click()]);
  const text = readFileSync(await file.path(), 'utf8');
  assert.equal(text, '0123456789'.repeat(10_000));
}

/** Fills the item in without a network; what was typed outlives a reload. */
async function fillIn(page) {
  await page.goto(root);
  await page.getByText('There is no connection.').waitFor();
  await page.getByRole('link', { name: 'visit' }).click();
  await page.getByLabel('Cost').fill('12,5');
  await page.reload();
  assert.equal(await page.getByLabel('Cost').inputValue(), '12,5', 'the draft is kept');
  await page.getByRole('button', { name: 'Report as done' }).click();
  await page.locator('[data-state=saved]').waitFor();
}

const look = (page) => page.evaluate(() => { window.dispatchEvent(new Event('online')); });

/** The network is cut, and loses the first answer when it is back. */
async function cut(browser) {
  const { context, page, wrong } = await open(browser, 390, 'light', asked.token);
  await page.goto(root);
  await keep(page, asked.docs, 'work-inbox');
  await lock(page);
  await keep(page, asked.docs, 'work-item');
  await check(page, 'work-held', wrong, asked);
  await ready(page);
  network = 'cut';
  await readFile(page);
  await fillIn(page);
  await check(page, 'work-away', wrong, asked);
  network = 'lossy';
  await look(page);
  await page.waitForFunction(() => document.querySelector('[data-state=confirmed]'));
  assert.ok(reports >= 2, 'an answer was lost');
  // Another person's session shows nothing of the first one's, also without a network.
  await signIn(context, asked.server, asked.other);
  await page.goto(root);
  assert.equal(await page.locator('[data-state]').count(), 0);
  network = 'cut';
  await page.goto(`${root}/items/${asked.item}`);
  await page.getByText('There is no connection.').waitFor();
  assert.equal(await page.locator('[data-state], [data-result]').count(), 0);
  console.log('confirmed');
}

/** Others answer for the server; then it refuses, for somebody else has the item by now. */
async function hotel(browser) {
  const { page, wrong } = await open(browser, 390, 'light', asked.token);
  await lock(page);
  network = 'hotel';
  await fillIn(page);
  network = 'proxy';
  await page.goto(root);
  await page.getByRole('link', { name: 'visit' }).waitFor();
  // Somebody answers for the server when the result is sent.
  network = 'filter';
  await Promise.all([page.waitForResponse(/report$/), look(page)]);
  await page.locator('[data-state=saved]').waitFor();
  assert.ok(reports > 0);
  const taken = await fetch(`${asked.server}/v1/work/items/${asked.item}/take-over`, {
    method: 'POST', headers: { authorization: `Bearer ${asked.other}` } });
  assert.equal(taken.status, 200);
  network = 'there';
  await look(page);
  const refused = page.locator('[data-state=refused]');
  await refused.getByText('no longer held by beto').waitFor();
  assert.match(await refused.innerText(), /cost\s+12\.5/);
  await check(page, 'work-refused', wrong, asked);
  console.log('refused');
}

/** Says on stderr what the pages show, and which faults they had. */
async function tell(browser) {
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    console.error(`${network}, ${page.url()}:\n${await page.innerText('body').catch(String)}`);
  }
  console.error(faults.join('\n'));
}

const browser = await launch();
try {
  await (asked.play === 'cut' ? cut : hotel)(browser);
} catch (error) {
  await tell(browser);
  throw error;
} finally {
  await browser.close();
  between.close();
  between.closeAllConnections();
}
assert.deepEqual(faults, []);
