// Going away in the eleven steps of the disconnection protocol: copies what is locked, and notifies the person when
// this device has all of it.
import { ask, kept, understood, whole, words } from './store.js';

const told = (text, ...values) => values.reduce((so, value) => so.replace('%', value), text);
const mebibytes = (bytes) => `${Math.ceil(bytes / 104_857.6) / 10} MiB`;
const isLocked = (one) => one.entry.state === 'LOCKED';
const sizeOf = (one) => (one.entry.data_bytes ?? 0) + (one.files ?? []).reduce((sum, file) => sum + file.bytes, 0);

/** Bytes a second of what this page received, of answers that are large enough to tell; none without any. */
function rate() {
  const rates = performance.getEntriesByType('resource')
    .filter((one) => one.transferSize > 4_096 && one.responseEnd > one.requestStart)
    .map((one) => one.transferSize * 1000 / (one.responseEnd - one.requestStart));
  return rates.length ? Math.max(...rates) : null;
}

/** The locked items that are not here, and their bytes. */
async function missing(store) {
  const here = new Set((await whole(store)).map((one) => one.item));
  const items = (await kept(store)).filter((one) => isLocked(one) && !here.has(one.item));
  return { items, bytes: items.reduce((sum, one) => sum + sizeOf(one), 0) };
}

/** The room that the browser gives; a window that forgets is told apart by what it refuses to keep. */
async function room() {
  const { quota = Infinity, usage = 0 } = await navigator.storage?.estimate?.() ?? {};
  const isKept = await navigator.storage?.persist?.() ?? false;
  return { left: quota - usage, isKept };
}

async function leave(page, minutes, say) {
  const store = page.store();
  const selected = (await kept(store)).filter((one) => ['SELECTED', 'RUNNING'].includes(one.entry.state));
  const names = selected.map((one) => one.entry.task).join(', ');
  if (selected.length && !window.confirm(told(words.selected, names))) return;
  // Nothing of this page makes the person active again.
  page.silent();
  const left = await ask('/api/connection', { method: 'DELETE', headers: { 'x-proof': page.proof } });
  if (!(left && await understood(left, 'active'))) { say(words.unreached); return; }
  const { items, bytes } = await missing(store);
  say(told(words.tocopy, items.length, mebibytes(bytes)));
  const seconds = rate() && Math.ceil(bytes / rate());
  if (seconds) say(told(words.lasts, seconds));
  if (minutes && seconds > minutes * 60) { say(words.toolong); return; }
  const space = await room();
  if (space.left < bytes) { say(told(words.full, mebibytes(space.left))); return; }
  if (!space.isKept) say(words.forgets);
  await page.copied();
  const rest = await missing(store);
  for (const one of rest.items) say(told(words.lacks, `${one.entry.task} · ${one.entry.instance}`));
  const here = (await whole(store)).filter(isLocked).length;
  say(told(rest.items.length ? words.some : words.go, here));
}

/** Lets the person go away from the inbox. */
export function offerLeaving(page) {
  const place = document.querySelector('[data-leave]');
  place?.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (!page.store()) return;
    const steps = place.querySelector('ol');
    const button = place.querySelector('button');
    const say = (text) => steps.append(Object.assign(document.createElement('li'), { textContent: text }));
    steps.replaceChildren();
    button.disabled = true;
    try {
      await leave(page, Number(place.querySelector('input').value), say);
    } catch (error) {
      say(error.name === 'QuotaExceededError' ? told(words.full, mebibytes(0)) : words.unreached);
    } finally {
      button.disabled = false;
    }
  });
}
