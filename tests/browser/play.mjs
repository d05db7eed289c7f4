// Plays the worked example of the process language with three people in headless Chromium. One of them loses the
// network at each step of going away, works without it, and returns. Its argument says where and with which tokens; what
// happens outside of the browser is asked for on stdout, a line each. Ends with 1 at the first thing that is wrong.
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const asked = JSON.parse(process.argv[2]);
const root = `${asked.server}/console/work`;
const faults = [];
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Asks for something outside of the browser. */
async function outside(document) {
  console.log(JSON.stringify(document));
  return JSON.parse((await answers.next()).value);
}

async function person(browser, name, width) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, locale: 'en' });
  const { hostname } = new URL(asked.server);
  await context.addCookies([
    { name: 'wedflow_session', value: asked.tokens[name], domain: hostname, path: '/console' }]);
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`${name}, ${page.url()}: ${error}`));
  page.on('dialog', (dialog) => dialog.accept());
  page.setDefaultTimeout(60_000);
  return { name, context, page };
}

async function keep({ name, page }, what) {
  if (asked.pictures) await page.screenshot({ path: `${asked.pictures}/play-${what}-${name}.png`, fullPage: true });
}

/** Opens the item of a task in a person's inbox; its number. */
async function openItem({ page }, task) {
  await page.goto(root);
  await page.getByRole('link', { name: task }).click();
  await page.waitForURL(/\/items\/\d+$/);
  return Number(page.url().split('/').pop());
}

const press = ({ page }, name) => page.getByRole('button', { name, exact: true }).click();

/** What this device keeps: whether items are whole here, and under which claim. */
const device = ({ page }) => page.evaluate(async () => {
  const settled = (request) => new Promise((done) => { request.onsuccess = () => done(request.result); });
  const mark = localStorage.getItem('wedflow-work');
  const store = mark && await settled(indexedDB.open(`wedflow ${mark}`));
  if (!store) return [];
  const items = await settled(store.transaction('item').objectStore('item').getAll());
  const files = await settled(store.transaction('file').objectStore('file').getAll());
  store.close();
  return items.map(({ item, page: text, entry }) => ({
    item, claim: entry.claim, isWhole: Boolean(text) && files.some((file) => file.item === item && file.isWhole) }));
});

/** Forgets what was copied, so that going away copies it again. */
const forget = ({ page }) => page.evaluate(async () => {
  const settled = (request) => new Promise((done) => { request.onsuccess = () => done(request.result); });
  const store = await settled(indexedDB.open(`wedflow ${localStorage.getItem('wedflow-work')}`));
  await settled(store.transaction('file', 'readwrite').objectStore('file').clear());
  const items = await settled(store.transaction('item').objectStore('item').getAll());
  const place = store.transaction('item', 'readwrite').objectStore('item');
  await Promise.all(items.map(({ item, place: at, entry }) => settled(place.put({ item, place: at, entry }))));
  store.close();
});

/** Waits until something of the device holds. */
async function until(who, holds) {
  for (let looks = 0; looks < 600; looks += 1) {
    if (holds(await device(who))) return;
    await who.page.waitForTimeout(100);
  }
  throw new Error(`${who.name}: ${JSON.stringify(await device(who))}`);
}

/** Goes away; the network is cut at a request of the four that going away makes, before it is sent or after it was
 * answered: leaving, the list, the item, its file. Nobody may go whose item is not here. What it says last. */
async function leave(who, cutAt, isAnswered) {
  const { page, context } = who;
  let requests = 0;
  await page.goto(root);
  await page.getByText('Go away with what is locked').click();
  await until(who, (items) => items.some((one) => one.isWhole));
  await forget(who);
  const cut = async (route) => {
    const at = requests;
    requests += 1;
    if (at !== cutAt) { await route.continue(); return; }
    if (isAnswered) await route.fetch();
    await context.setOffline(true);
    await route.abort('internetdisconnected');
  };
  const step = /\/work\/(api\/(connection|items)|items\/\d+\/kept)/;
  await page.route(step, cut);
  await press(who, 'Get ready to go');
  const form = page.locator('[data-leave]');
  await form.locator('li').first().waitFor();
  await form.locator('button:enabled').waitFor();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  const said = await form.locator('li').last().innerText();
  const isHere = (await device(who)).some((one) => one.isWhole);
  assert.ok(isHere || !said.startsWith('You may go: 1'), `${said} at ${cutAt}`);
  await context.setOffline(false);
  return said;
}

/** Two race for an item; one has it, the other learns who. */
async function race(one, other) {
  const item = await openItem(one, 'VisitarCliente');
  await openItem(other, 'VisitarCliente');
  const lock = 'Lock, to take it away';
  await Promise.all([press(one, lock), press(other, lock)]);
  await Promise.all([one, other].map(({ page }) => page.waitForLoadState()));
  const texts = await Promise.all([one, other].map(async ({ page }) => {
    await page.getByText(/It is locked for you|is held by|already/).first().waitFor();
    return page.innerText('main');
  }));
  const [winner, loser] = texts[0].includes('locked for you') ? [one, other] : [other, one];
  assert.match(texts[loser === one ? 0 : 1], new RegExp(winner.name));
  await keep(loser, 'raced');
  return { item, winner };
}

/** Attaches a file that is taken away as well. */
async function attach(who, item) {
  const answer = await fetch(`${asked.server}/v1/work/items/${item}/attachments/plan.txt`, {
    method: 'POST', body: '0123456789'.repeat(5_000),
    headers: { authorization: `Bearer ${asked.tokens[who.name]}`, 'content-type': 'application/octet-stream' } });
  assert.ok(answer.ok, await answer.text());
}

/** Copying rests when asked, and goes on when it is asked to. */
async function rest(who) {
  const { page } = who;
  const box = page.getByLabel('Copy only when I leave, while the connection is full');
  const listed = () => page.waitForResponse(/\/api\/items\?/);
  await page.goto(root);
  await until(who, (items) => items.some((one) => one.isWhole));
  await page.getByText('Go away with what is locked').click();
  await Promise.all([listed(), box.check()]);
  await forget(who);
  await Promise.all([listed(), page.reload()]);
  // The lock of copying is free once it has ended.
  await page.evaluate(() => navigator.locks.request(
    `wedflow copy ${document.querySelector('meta[name=wedflow-person]').content}`, () => {}));
  assert.ok(!(await device(who)).some((one) => one.isWhole), 'nothing is copied');
  await page.getByText('Go away with what is locked').click();
  await Promise.all([listed(), box.uncheck()]);
  await until(who, (items) => items.some((one) => one.isWhole));
}

/** Goes away, cut at each step, and works without a network; meanwhile the item is taken over. */
async function away(who, ana, item) {
  for (const cutAt of [0, 1, 2, 3]) {
    await leave(who, cutAt, false);
    await leave(who, cutAt, true);
  }
  assert.match(await leave(who, Infinity, false), /^You may go: 1/);
  await who.context.setOffline(true);
  await who.page.goto(`${root}/items/${item}`);
  await who.page.getByText('There is no connection.').waitFor();
  await who.page.getByLabel('ordem_servico').fill(`Carla, Rua 5; solda: ${who.name}`);
  await press(who, 'Report as done');
  await who.page.locator('[data-state=saved]').waitFor();
  await keep(who, 'away');
  await ana.page.goto(`${root}/items/${item}`);
  await press(ana, 'Take over');
  await ana.page.getByText('You took it over.').waitFor();
}

/** Returns: the result is refused with its values, and is applied once the item is given back. */
async function comeBack(who, ana, item) {
  const { page, context } = who;
  await context.setOffline(false);
  await page.goto(root);
  const refused = page.locator('[data-state=refused]');
  await refused.waitFor();
  const text = await refused.innerText();
  assert.match(text, new RegExp(`solda: ${who.name}`));
  assert.match(text, /ordem_servico/);
  await keep(who, 'refused');
  await ana.page.getByText('Give it to somebody, or decide').click();
  await ana.page.getByLabel('To', { exact: true }).fill(who.name);
  await press(ana, 'Give');
  await ana.page.getByText('It is given.').waitFor();
  await page.goto(root);
  await until(who, (items) => items.some((one) => one.item === item));
  await page.getByRole('button', { name: /Send again/ }).click();
  await page.locator('[data-state=confirmed]').waitFor();
}

/** The terminal and the page side by side, of one person. */
async function sideBySide(caio) {
  await caio.page.goto(root);
  const entry = caio.page.getByRole('listitem').filter({ hasText: 'EnviarOrdemPagamento' });
  await entry.waitFor();
  const listed = await outside({ terminal: ['list'] });
  const item = listed.find((one) => one.task === 'EnviarOrdemPagamento').item;
  await outside({ terminal: ['select', String(item)] });
  await entry.getByText(/selected/).waitFor();
  await openItem(caio, 'EnviarOrdemPagamento');
  await press(caio, 'Report as done');
  await caio.page.waitForURL(root);
  assert.deepEqual((await outside({ terminal: ['list'] })).filter((one) => one.item === item), []);
}

async function play(browser) {
  const ana = await person(browser, 'ana', 1440);
  const beto = await person(browser, 'beto', 390);
  const caio = await person(browser, 'caio', 390);
  await ana.page.goto(`${root}/start`);
  await ana.page.getByLabel('debitos_clientes').fill('Carla: R$ 0,00');
  await press(ana, 'Start a process');
  await openItem(ana, 'CriarOrdemServico');
  await press(ana, 'Select');
  await ana.page.getByLabel('ordem_servico').fill('Carla, Rua 5');
  await press(ana, 'Report as done');
  await ana.page.waitForURL(root);
  const { item, winner } = await race(beto, caio);
  await attach(winner, item);
  await rest(winner);
  await away(winner, ana, item);
  await comeBack(winner, ana, item);
  await outside({ program: 'gerar_ordem_pagamento' });
  await outside({ program: 'armazenar_debito_cliente' });
  await sideBySide(caio);
}

const browser = await chromium.launch({
  executablePath: process.env.WEDFLOW_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'],
});
try {
  await play(browser);
} catch (error) {
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    console.error(`${page.url()}:\n${await page.innerText('body').catch(String)}`);
  }
  throw error;
} finally {
  await browser.close();
}
assert.deepEqual(faults, []);
process.exit(0);
