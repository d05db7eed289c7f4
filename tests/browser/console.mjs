// Opens every page of the console in headless Chromium, narrow and light, wide and dark; goes by keyboard alone; finds,
// understands and mends an instance. Its argument says where, which pages there are, and with which tokens. Ends with 1
// at the first thing that is wrong.
import assert from 'node:assert/strict';
import { check, keep, launch, open, signIn } from './checks.mjs';

const asked = JSON.parse(process.argv[2]);
const { server, tokens } = asked;
const root = `${server}/console`;
const flow = `/flows/${asked.flow}`;
const instance = `${flow}/instances/${asked.wid}`;
const faults = [];

/** Opens every page as who may see it, and checks it. */
async function sweep(browser, width, scheme, isKeyed) {
  const { context, page, wrong } = await open(browser, { server, width, scheme }, faults);
  page.on('dialog', async (dialog) => { wrong(`a dialog: ${dialog.message()}`); await dialog.dismiss(); });
  for (const { name, path, who } of asked.pages) {
    // The page before asks nothing more, so that it does not ask as somebody else.
    await page.goto('about:blank');
    await signIn(context, server, tokens[who]);
    const response = await page.goto(server + path);
    if (response.status() !== 200) wrong(`${response.status()}`);
    await check(page, name, wrong, { pictures: asked.pictures, isKeyed });
  }
  await context.close();
}

/** Goes by keyboard alone: past the navigation, and to another page. */
async function byKeyboard(browser) {
  const { context, page } = await open(browser, { server, token: tokens.person, width: 1440 }, faults);
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

/** Slides the timeline to its first state: the values beside it are those of that state. */
async function lookBack(page) {
  const value = (name) => page.locator(`[data-value-of="${name}"]`).innerText();
  assert.deepEqual([await value('packed'), await value('sent')], ['box 9', 'by courier']);
  await page.getByLabel('States, up to').focus();
  await page.keyboard.press('Home');
  await page.getByText('after step 1').waitFor();
  assert.deepEqual([await value('customer'), await value('packed'), await value('sent')], ['Ana', 'null', 'null']);
  await page.keyboard.press('End');
  await page.getByText('present', { exact: true }).waitFor();
  assert.equal(await value('packed'), 'box 9');
}

/** A form that is refused is there again: the reason has the focus, and what was typed is in its fields. */
async function refused(browser) {
  const { context, page } = await open(browser, { server, token: tokens.person, width: 390 }, []);
  await page.goto(`${root}/people`);
  await page.getByLabel('New user').fill('ann');
  await page.getByLabel('Role').selectOption('operator');
  await page.getByRole('button', { name: 'Make the user' }).click();
  await page.getByRole('alert').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'refused');
  assert.deepEqual([await page.getByLabel('New user').inputValue(), await page.getByLabel('Role').inputValue()],
    ['ann', 'operator']);
  const menu = await page.locator('.top nav').boundingBox();
  assert.ok(menu.height < 60, `the menu is ${menu.height} high`);
  await context.close();
}

/** From the address to a mended instance, told nothing but the address, by keyboard alone. */
async function journey(browser) {
  const { context, page } = await open(browser, { server, width: 1100, height: 720 }, faults);
  const press = async (thing) => { await tabTo(page, thing); await page.keyboard.press('Enter'); };
  const type = async (thing, text) => { await tabTo(page, thing); await page.keyboard.type(text); };
  const mended = `${root}/flows/orders/instances/4711`;
  await page.goto(server);
  await type(page.getByLabel('Token'), tokens.shop);
  await press(page.getByRole('button', { name: 'Sign in' }));
  await page.waitForURL(root);
  const exception = page.getByRole('link', { name: 'orders 4711' });
  await exception.waitFor();
  await keep(page, asked.docs, 'console-overview');
  await press(exception);
  await page.getByText('No condition holds, so nothing fires.').waitFor();
  await keep(page, asked.docs, 'console-why');
  await press(page.getByRole('button', { name: 'Set its state' }));
  await type(page.getByLabel('sent', { exact: true }), 'by courier');
  await press(page.getByRole('button', { name: 'What would happen?' }));
  await page.getByText('The instance would be').waitFor();
  assert.match(await page.locator('section[aria-live]').innerText(), /final/);
  await type(page.getByLabel('Reason, for the trace'), 'too heavy for us: a courier took it');
  await keep(page, asked.docs, 'console-what-if', { fullPage: true });
  await press(page.getByRole('button', { name: 'Set this state' }));
  await page.waitForURL(mended);
  await page.getByText('The instance has ended.').waitFor();
  await keep(page, asked.docs, 'console-ended');
  await lookBack(page);
  await context.close();
  console.log('mended');
}

const browser = await launch();
try {
  await Promise.all([sweep(browser, 390, 'light', false), sweep(browser, 1440, 'dark', true)]);
  if (asked.pictures) {
    await sweep(browser, 390, 'dark', false);
    await sweep(browser, 1440, 'light', false);
  }
  await byKeyboard(browser);
  await refused(browser);
  await journey(browser);
} finally {
  await browser.close();
}
assert.deepEqual(faults, []);
