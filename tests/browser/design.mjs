// Designs a process in headless Chromium: by dragging, by keyboard alone, by typing; applies it. Its argument says
// where and with which token. Ends with 1 at the first thing that is wrong.
import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const asked = JSON.parse(process.argv[2]);
const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const root = `${asked.server}/console`;
const faults = [];

async function open(browser, width, scheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, locale: 'en' });
  const { hostname } = new URL(asked.server);
  await context.addCookies([{ name: 'wedflow_session', value: asked.token, domain: hostname, path: '/console' }]);
  const page = await context.newPage();
  const wrong = (what) => faults.push(`${page.url()} at ${width}, ${scheme}: ${what}`);
  page.on('console', (message) => { if (message.type() === 'error') wrong(message.text()); });
  page.on('pageerror', (error) => wrong(String(error)));
  page.on('request', (request) => { if (!request.url().startsWith(asked.server)) wrong(`asks ${request.url()}`); });
  page.setDefaultTimeout(60_000);
  return { context, page, wrong };
}

/** Measures a page by rules of accessibility; keeps a picture where asked to. */
async function check(page, name, wrong) {
  const { width } = page.viewportSize();
  const scheme = await page.evaluate(() => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
  if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wrong('it scrolls sideways');
  if (await page.evaluate(() => document.querySelectorAll('script:not([src]), img, style').length)) wrong('markup');
  const path = `${asked.pictures}/${name}-${width}-${scheme}.png`;
  if (asked.pictures) await page.screenshot({ path, fullPage: true });
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await axe.run(document)).violations);
  for (const one of found) wrong(`${one.id}: ${one.nodes.map((node) => node.target).join(' ')}`);
}

async function sweep(browser, width, scheme) {
  const { context, page, wrong } = await open(browser, width, scheme);
  const pages = { order: '/flows/order/design', shop: '/flows/shop/design', new: '/design' };
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(root + path);
    await page.locator('[data-task]').first().waitFor();
    await check(page, `design-${name}`, wrong);
  }
  await context.close();
}

const text = (page) => page.locator('textarea[name=text]');
const box = (page, task) => page.locator(`[data-task="${task}"]`);
const says = (page, part) => page.waitForFunction(
  (one) => document.querySelector('textarea[name=text]').value.includes(one), part);

/** Drags a box onto another one. */
async function drag(page, from, to) {
  const middle = async (one) => {
    const place = await one.locator('rect').boundingBox();
    return [place.x + place.width / 2, place.y + place.height / 2];
  };
  await box(page, from).scrollIntoViewIfNeeded();
  await page.mouse.move(...await middle(box(page, from)));
  await page.mouse.down();
  await page.mouse.move(...await middle(box(page, to)), { steps: 4 });
  await page.locator('.target').waitFor({ state: 'attached' });
  await page.mouse.up();
}

/** A task is dragged, and the text says so; the text is changed, and the picture shows it; it is applied. */
async function byHand(browser) {
  const { context, page } = await open(browser, 1440, 'light');
  await page.goto(`${root}/flows/order/design`);
  await drag(page, 'Write', 'Quote');
  await says(page, 'TASK Write: Form {\n    DEPENDS Quote -> SUCCEEDED;');
  await says(page, 'TASK Send: Form {\n    DEPENDS Write -> SUCCEEDED;');
  const written = await text(page).inputValue();
  await text(page).fill(written.replaceAll('Send', 'Deliver'));
  await box(page, 'Deliver').waitFor();
  assert.equal(await box(page, 'Send').count(), 0);
  await text(page).fill(written.replace('DEPENDS Quote ->', 'DEPENDS Quote'));
  await page.locator('.found .alert').first().waitFor();
  await page.locator('.lines .alert').first().waitFor();
  await text(page).fill(written.replaceAll('Send', 'Deliver'));
  await box(page, 'Deliver').waitFor();
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.locator('ins', { hasText: 'Deliver' }).first().waitFor();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(`${root}/flows/order/versions`);
  await page.getByText('It was applied.').waitFor();
  await context.close();
}

/** The same by keyboard alone: a task is reached, moved, renamed, deleted, and all of it taken back. */
async function byKeyboard(browser) {
  const { context, page } = await open(browser, 1440, 'dark');
  page.on('dialog', (dialog) => dialog.accept());
  await page.goto(`${root}/flows/shop/design`);
  const order = async () => (await text(page).inputValue()).match(/(?<=CREATE WED-TRIGGER )\S+/g);
  assert.equal((await order())[1], 'two');
  for (let tabs = 0; tabs < 80; tabs += 1) {
    if (await page.evaluate(() => document.activeElement.dataset?.task === 'two')) break;
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Alt+ArrowUp');
  const isFirst = () => /TRIGGER two[^]*TRIGGER "/.test(document.querySelector('textarea[name=text]').value);
  await page.waitForFunction(isFirst);
  await page.waitForFunction(() => document.activeElement.dataset?.task === 'two');
  await page.keyboard.press('F2');
  await page.keyboard.type('second');
  await page.keyboard.press('Enter');
  await box(page, 'second').waitFor();
  await box(page, 'second').focus();
  await page.keyboard.press('Delete');
  await box(page, 'second').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Take back' }).press('Enter');
  await box(page, 'second').waitFor();
  await context.close();
}

const browser = await chromium.launch({
  executablePath: process.env.WEDFLOW_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'],
});
try {
  await sweep(browser, 390, 'light');
  await sweep(browser, 1440, 'dark');
  if (asked.pictures) {
    await sweep(browser, 390, 'dark');
    await sweep(browser, 1440, 'light');
  }
  await byHand(browser);
  await byKeyboard(browser);
  console.log('designed');
} finally {
  await browser.close();
}
assert.deepEqual(faults, []);
