// What holds of every page, in headless Chromium: it fits its width, has no markup of others, breaks no rule of
// accessibility, and all of it is reached by keyboard. Pictures are kept where asked to.
import { readFileSync, statSync } from 'node:fs';
import { chromium } from 'playwright-core';

const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

export const launch = () => chromium.launch({
  executablePath: process.env.WEDFLOW_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'],
});

/** Signs a browser in with a token, or out. */
export async function signIn(context, server, token) {
  await context.clearCookies();
  if (!token) return;
  const { hostname } = new URL(server);
  await context.addCookies([{ name: 'wedflow_session', value: token, domain: hostname, path: '/console' }]);
}

/** Opens a page that reports what no page may do: errors, dialogs, requests to elsewhere. */
export async function open(browser, { server, token, width, height = 900, scheme = 'light' }, faults) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, locale: 'en' });
  await signIn(context, server, token);
  const page = await context.newPage();
  const wrong = (what) => faults.push(`${page.url()} at ${width}, ${scheme}: ${what}`);
  page.on('console', (message) => { if (message.type() === 'error') wrong(message.text()); });
  page.on('pageerror', (error) => wrong(String(error)));
  page.on('request', (request) => { if (!request.url().startsWith(server)) wrong(`asks ${request.url()}`); });
  page.setDefaultTimeout(60_000);
  return { context, page, wrong };
}

/** Names what of a page's content is not reached by Tab, or does not show that it has the focus. */
async function missedByKeyboard(page) {
  const stops = await page.evaluate(() => {
    const all = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]';
    const isReached = (one) => one.checkVisibility() && !one.disabled && one.tabIndex === 0;
    window.missed = new Set([...document.querySelectorAll(`#main :is(${all})`)].filter(isReached));
    window.unseen = [];
    document.addEventListener('focusin', ({ target }) => {
      window.missed.delete(target);
      const { outlineStyle, outlineWidth } = getComputedStyle(target);
      const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
      if (target.id !== 'main' && !isSeen) window.unseen.push(target);
    });
    document.querySelector('#main').focus();
    // A field that has the focus from the start is not reached again.
    window.missed.delete(document.activeElement);
    // A field of a date has stops of its own.
    return window.missed.size + 8 * document.querySelectorAll('#main [type^=date]').length;
  });
  for (let tabs = 0; tabs <= stops; tabs += 1) await page.keyboard.press('Tab');
  return page.evaluate(() => {
    const named = (one) => one.outerHTML.slice(0, 120);
    return [...window.missed].filter((one) => one.isConnected).map((one) => `not reached: ${named(one)}`)
      .concat(window.unseen.map((one) => `its focus is not seen: ${named(one)}`));
  });
}

/** Checks a page: its width, its markup, the rules of accessibility, its way by keyboard; keeps a picture. */
export async function check(page, name, wrong, { pictures, isKeyed = false }) {
  const { width } = page.viewportSize();
  const scheme = await page.evaluate(() => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
  if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wrong('it scrolls sideways');
  if (await page.evaluate(() => document.querySelectorAll('script:not([src]), img, style').length)) wrong('markup');
  if (pictures) await page.screenshot({ path: `${pictures}/${name}-${width}-${scheme}.png`, fullPage: true });
  // Evaluated by the driver, which the page's policy does not bind.
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await axe.run(document)).violations);
  for (const one of found) wrong(`${one.id}: ${one.nodes.map((node) => node.target).join(' ')}`);
  if (isKeyed) for (const one of await missedByKeyboard(page)) wrong(one);
}

/** Keeps a picture for the docs, of what a window shows or of a part of a page. */
export async function keep(shown, folder, name, options = {}) {
  const path = `${folder}/${name}.png`;
  await shown.screenshot({ path, ...options });
  // One colour alone takes a tenth of it.
  if (statSync(path).size < 5_000) throw new Error(`${name} is blank`);
}
