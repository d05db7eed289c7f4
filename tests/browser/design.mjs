// Designs a process in headless Chromium: by dragging, by keyboard alone, by typing; applies it. Its argument says
// where and with which token. Ends with 1 at the first thing that is wrong.
import assert from 'node:assert/strict';
import { check, keep, launch, open } from './checks.mjs';

const asked = JSON.parse(process.argv[2]);
const { server, token, pictures } = asked;
const root = `${server}/console`;
const faults = [];

async function sweep(browser, width, scheme) {
  const { context, page, wrong } = await open(browser, { server, token, width, scheme }, faults);
  const pages = { order: '/flows/order/design', shop: '/flows/shop/design', new: '/design' };
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(root + path);
    await page.locator('[data-task]').first().waitFor();
    await check(page, `design-${name}`, wrong, { pictures });
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
  const { context, page } = await open(browser, { server, token, width: 1280, height: 800 }, faults);
  await page.goto(`${root}/flows/order/design`);
  await drag(page, 'Write', 'Quote');
  await says(page, 'TASK Write: Form {\n    DEPENDS Quote -> SUCCEEDED;');
  await says(page, 'TASK Send: Form {\n    DEPENDS Write -> SUCCEEDED;');
  const written = await text(page).inputValue();
  await keep(page, asked.docs, 'designer');
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
  const { context, page } = await open(browser, { server, token, width: 1440, scheme: 'dark' }, faults);
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

const browser = await launch();
try {
  await sweep(browser, 390, 'light');
  await sweep(browser, 1440, 'dark');
  if (pictures) {
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
