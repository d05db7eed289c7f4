// Opens every page of the console in headless Chromium, narrow and light, wide and dark; goes by keyboard alone; finds,
// understands and mends an instance. Its argument says where and with which token. Ends with 1 at the first
// thing that is wrong.
import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const asked = JSON.parse(process.argv[2]);
const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const root = `${asked.server}/console`;
const flow = `/flows/${asked.flow}`;
const instance = `${flow}/instances/${asked.wid}`;
const pages = {
  overview: '', flows: '/flows', flow, definition: `${flow}/definition`, versions: `${flow}/versions`,
  settings: `${flow}/settings`, sql: `${flow}/sql`, instances: `${flow}/instances`, start: `${flow}/start`,
  'flow-exceptions': `${flow}/exceptions`, condition: `${flow}/condition?trigger=t2`, instance,
  why: `${instance}/why`, 'why-past': `${instance}/why?seq=1`, 'what-if': `${instance}/what-if`,
  'last-hour': '/last-hour', reservations: '/reservations', exceptions: '/exceptions', jobs: '/jobs', schedules: '/schedules', webhooks: '/webhooks',
  components: '/components', component: '/components/of/pack', people: '/people', hosts: '/hosts', audit: '/audit', usage: '/usage',
};
const faults = [];

/** Makes a page that reports what no page may do: errors, dialogs, requests to elsewhere. */
async function open(browser, width, scheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, locale: 'en' });
  const page = await context.newPage();
  const wrong = (what) => faults.push(`${page.url()} at ${width}, ${scheme}: ${what}`);
  page.on('console', (message) => { if (message.type() === 'error') wrong(message.text()); });
  page.on('pageerror', (error) => wrong(String(error)));
  page.on('dialog', async (dialog) => { wrong(`a dialog: ${dialog.message()}`); await dialog.dismiss(); });
  page.on('request', (request) => { if (!request.url().startsWith(asked.server)) wrong(`asks ${request.url()}`); });
  page.setDefaultTimeout(60_000);
  return { context, page, wrong };
}

function signIn(context) {
  const { hostname } = new URL(asked.server);
  return context.addCookies([{ name: 'wedflow_session', value: asked.token, domain: hostname, path: '/console' }]);
}

/** Opens every page; measures it by rules of accessibility; keeps a picture where asked to. */
async function sweep(browser, width, scheme, checked) {
  const { context, page, wrong } = await open(browser, width, scheme);
  await signIn(context);
  for (const [name, path] of Object.entries(pages)) {
    const response = await page.goto(root + path);
    if (response.status() !== 200) wrong(`${response.status()}`);
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wrong('it scrolls sideways');
    if (await page.evaluate(() => document.querySelectorAll('script:not([src]), img, style').length)) wrong('markup');
    if (asked.pictures) await page.screenshot({ path: `${asked.pictures}/${name}-${width}-${scheme}.png` });
    if (checked) {
      // Evaluated by the driver, which the page's policy does not bind.
      await page.evaluate(axe);
      const found = await page.evaluate(async () => (await axe.run(document)).violations);
      for (const one of found) wrong(`${one.id}: ${one.nodes.map((node) => node.target).join(' ')}`);
    }
  }
  await context.close();
}

/** Goes by keyboard alone: past the navigation, and to another page. */
async function byKeyboard(browser) {
  const { context, page } = await open(browser, 1440, 'light');
  await signIn(context);
  await page.goto(root);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => document.activeElement.closest('main') !== null), 'the focus is in the content');
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await page.waitForURL(`${root}/flows`);
  await page.goto(`${root}${flow}/instances`);
  await page.keyboard.press('/');
  await page.keyboard.type(String(asked.wid));
  await page.keyboard.press('Enter');
  await page.waitForURL(`${root}${instance}`);
  await context.close();
}

/** Goes on by Tab until a thing has the focus, as who has no mouse does. */
async function tabTo(page, thing) {
  const element = await thing.elementHandle();
  for (let tabs = 0; tabs < 200; tabs += 1) {
    if (await page.evaluate((one) => document.activeElement === one, element)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`not reached by keyboard: ${thing}`);
}

/** From the address to a mended instance, told nothing but the address, by keyboard alone. */
async function journey(browser) {
  const { context, page } = await open(browser, 1100, 'light');
  await page.setViewportSize({ width: 1100, height: 720 });
  const press = async (thing) => { await tabTo(page, thing); await page.keyboard.press('Enter'); };
  const type = async (thing, text) => { await tabTo(page, thing); await page.keyboard.type(text); };
  const keep = async (name) => {
    if (asked.walk) await page.screenshot({ path: `${asked.walk}/console-${name}.png` });
  };
  const mended = `${root}/flows/orders/instances/4711`;
  await page.goto(asked.server);
  await type(page.getByLabel('Token'), asked.token);
  await press(page.getByRole('button', { name: 'Sign in' }));
  await page.waitForURL(root);
  const exception = page.getByRole('link', { name: 'orders 4711' });
  await exception.waitFor();
  await keep('overview');
  await press(exception);
  await page.getByText('No condition holds, so nothing fires.').waitFor();
  await keep('why');
  await press(page.getByRole('link', { name: 'Set its state' }));
  await type(page.getByLabel('sent', { exact: true }), 'by courier');
  await press(page.getByRole('button', { name: 'What would happen?' }));
  await page.getByText('The instance would be').waitFor();
  assert.match(await page.locator('section[aria-live]').innerText(), /final/);
  await type(page.getByLabel('Reason, for the trace'), 'too heavy for us: a courier took it');
  await keep('what-if');
  await press(page.getByRole('button', { name: 'Set this state' }));
  await page.waitForURL(mended);
  await page.getByText('The instance has ended.').waitFor();
  await keep('ended');
  await context.close();
  console.log('mended');
}

const browser = await chromium.launch({
  executablePath: process.env.WEDFLOW_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'],
});
try {
  await sweep(browser, 390, 'light', true);
  await sweep(browser, 1440, 'dark', true);
  if (asked.pictures) {
    await sweep(browser, 390, 'dark', false);
    await sweep(browser, 1440, 'light', false);
  }
  await byKeyboard(browser);
  await journey(browser);
} finally {
  await browser.close();
}
assert.deepEqual(faults, []);
