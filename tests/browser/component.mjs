// Compares two versions of a component on its page in headless Chromium, as an author does before one is used. Its
// argument says where and with which token. Ends with 1 at the first thing that is wrong.
import assert from 'node:assert/strict';
import { check, keep, launch, open } from './checks.mjs';

const asked = JSON.parse(process.argv[2]);
const { server, token } = asked;
const faults = [];

/** Makes the shadow run of the version that is not in use. */
async function compare(browser, width, scheme) {
  const { context, page, wrong } = await open(browser, { server, token, width, height: 1000, scheme }, faults);
  await page.goto(server + asked.path);
  await page.getByRole('combobox', { name: /^Version/ }).selectOption('2');
  await page.getByLabel('How many').fill('7');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText('unlucky').first().waitFor();
  if (width > 1000) await keep(page, asked.docs, 'component');
  await check(page, 'component-compared', wrong, asked);
  await context.close();
}

const browser = await launch();
try {
  await compare(browser, 1100, 'light');
  await compare(browser, 390, 'dark');
} finally {
  await browser.close();
}
assert.deepEqual(faults, []);
