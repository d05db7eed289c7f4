// The page without a network: items that this device kept, a form for those that are locked, and the outbox.
import { ask, isMarkOf, kept, marked, openStore, understood, unmark, words } from './store.js';
import { keepDraft, report } from './form.js';
import { isWaiting, keepResult, send, showOutbox } from './outbox.js';

const place = document.querySelector('[data-kept]');
const note = document.querySelector('[data-away]');
const asked = /\/items\/(\d+)$/.exec(location.pathname)?.[1];
const said = (text) => Object.assign(document.createElement('p'), { className: 'box', textContent: text });
let store = null;

document.querySelector('[data-again]').addEventListener('click', () => location.reload());

/** The files of an item that are here whole. */
async function fileList(item) {
  const list = document.createElement('ul');
  for (const file of (await store.all('file')).filter((one) => one.item === item && one.isWhole)) {
    const link = Object.assign(document.createElement('a'), {
      textContent: file.name, download: file.name, href: URL.createObjectURL(file.part) });
    list.appendChild(document.createElement('li')).append(link);
  }
  return list;
}

async function showItem(item) {
  const one = await store.get('item', item);
  const isDone = (await store.all('result')).some((result) => result.item === item);
  if (!one?.page) {
    place.replaceChildren(said(isDone ? words.kept : words.uncopied));
    return;
  }
  const page = document.createElement('div');
  // Markup of our own server, escaped there.
  page.innerHTML = one.page;
  const form = page.querySelector('[data-result]');
  const isEnabled = one.entry.state === 'LOCKED' && one.document.state === 'LOCKED' && form && !isDone;
  if (!isEnabled) {
    form?.querySelectorAll('input, select, textarea, button').forEach((part) => { part.disabled = true; });
    place.replaceChildren(said(isDone ? words.kept : words.locked), ...page.childNodes);
    return;
  }
  form.querySelectorAll('[value=run]').forEach((button) => { button.hidden = true; });
  await keepDraft(store, form);
  place.replaceChildren(...page.childNodes, await fileList(item));
  form.addEventListener('submit', async (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    const body = report(form, event.submitter?.value !== 'failed');
    if (body === null) return;
    await keepResult(store, one.entry, body);
    await showItem(item);
    await look();
    window.scrollTo(0, 0);
  });
}

async function showList() {
  const items = await kept(store);
  const isLocked = (one) => one.entry.state === 'LOCKED';
  items.sort((one, other) => isLocked(other) - isLocked(one) || one.place - other.place);
  const list = Object.assign(document.createElement('ol'), { className: 'items' });
  for (const one of items) {
    const line = list.appendChild(Object.assign(document.createElement('li'), { className: 'box' }));
    if (one.row) line.innerHTML = one.row;
    else line.textContent = `${one.entry.task} · ${one.entry.instance}`;
    if (one.page && isLocked(one)) {
      line.append(Object.assign(document.createElement('p'), { textContent: words.copied }));
    }
  }
  const title = Object.assign(document.createElement('h1'), { textContent: words.inbox });
  place.replaceChildren(title, items.length ? list : said(words.nothing));
}

/** Looks whether the server answers, and whose session it is; then what waits is sent. */
async function look() {
  await showOutbox(store, look);
  const answer = await ask('/me');
  const me = answer && await understood(answer, 'proof');
  if (!me) return;
  if (!isMarkOf(me.person)) {
    unmark();
    location.reload();
    return;
  }
  if (await isWaiting(store)) await send(store, me.proof);
  await showOutbox(store, look);
  note.firstChild.textContent = `${words.back} `;
}

if (marked()) {
  store = await openStore(marked());
  if (asked) await showItem(Number(asked));
  else await showList();
  await look();
  setInterval(look, 3_000);
  window.addEventListener('online', look);
} else {
  place.replaceChildren(said(words.nothing));
}
