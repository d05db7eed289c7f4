// Pages of work with a network: copies the worklist to this device, keeps drafts, sends results from the outbox, and
// follows the server's events.
import { ask, copy, isMarkOf, marked, openStore, root, setMark, unmark, understood, words } from './store.js';
import { complain, draft, keepDraft, report } from './form.js';
import { offerLeaving } from './leave.js';
import { isWaiting, keepResult, send, showOutbox } from './outbox.js';

const meta = (name) => document.querySelector(`meta[name=${name}]`).content;
const person = meta('wedflow-person');
const proof = meta('wedflow-proof');
const form = document.querySelector('[data-result]');
const order = new URLSearchParams(location.search).get('order') ?? 'arrival';
let store = null;

// What another person kept stays in that person's store, and is not shown.
if (!isMarkOf(person)) unmark();

async function use(name) {
  if (store?.name === name) return;
  store = await openStore(name);
  if (form) await keepDraft(store, form);
  await showOutbox(store, sent);
}

async function sent() {
  await showOutbox(store, sent);
  if (await isWaiting(store)) {
    await send(store, proof);
    await showOutbox(store, sent);
  }
}

// Who asks for it has nothing copied while the connection is full; going away, or a weaker connection, copies it.
const rest = document.querySelector('[data-rest]');
const resting = 'wedflow-rest';
let isLeaving = false;
const isFull = () => (navigator.connection?.effectiveType ?? '4g') === '4g';
const rests = () => !isLeaving && isFull() && localStorage.getItem(resting) === 'yes';
if (rest) rest.checked = localStorage.getItem(resting) === 'yes';
rest?.addEventListener('change', () => { localStorage.setItem(resting, rest.checked ? 'yes' : 'no'); renewed(); });
navigator.connection?.addEventListener('change', () => renewed());

let renewing = null;
let isStale = false;
async function renew() {
  await copy(order, async (whose) => {
    if (`${whose.tenant}/${whose.person}` !== person) throw new Error('another person is signed in');
    await use(setMark(whose));
    return store;
  }, rests());
  if (store) await sent();
}

async function renewAll() {
  while (isStale) {
    isStale = false;
    // From one tab at a time.
    if (navigator.locks) await navigator.locks.request(`wedflow copy ${person}`, renew);
    else await renew();
  }
}

/** One copy at a time; when something changes meanwhile, another one follows. */
function renewed() {
  isStale = true;
  renewing ??= renewAll().catch(() => {}).finally(() => { renewing = null; });
}

/** Keeps the result, and sends it at once where the server answers. */
async function sendForm(act) {
  const body = report(form, act === 'done');
  if (body === null) return;
  const item = Number(form.dataset.result);
  const typed = draft(form);
  const kept = await store.get('item', item);
  const answer = kept ? null : await ask(`/api/items/${item}`);
  const entry = kept?.entry ?? (answer && await understood(answer, 'task')) ?? { task: document.title, instance: '' };
  const { key } = await keepResult(store, { ...entry, item }, body);
  await send(store, proof);
  const result = await store.get('result', key);
  const field = result.answer?.at?.replace(/^values\./, '');
  if (result.state === 'refused' && field && complain(form, field, result.answer.detail)) {
    // What the server does not take of a field is mended here.
    await store.remove('result', key);
    await store.put('draft', typed);
    form.querySelector('[aria-invalid]').focus();
  } else if (result.state === 'confirmed') {
    location.assign(root);
    return;
  } else if (result.state === 'saved') {
    const told = form.querySelector('[data-told]');
    told.textContent = words.waits;
    told.hidden = false;
  }
  await showOutbox(store, sent);
}

let isSending = false;
document.addEventListener('submit', async (event) => {
  const act = event.submitter?.value;
  if (event.defaultPrevented || !store || event.target !== form || !['done', 'failed'].includes(act)) return;
  event.preventDefault();
  if (isSending) return;
  isSending = true;
  try { await sendForm(act); } finally { isSending = false; }
});

// Signing out leaves results that wait, and nothing else.
document.addEventListener('submit', async (event) => {
  if (!event.target.action.endsWith('/sign-out') || !store) return;
  event.preventDefault();
  unmark();
  await Promise.all([store.clear('item'), store.clear('draft'), store.clear('file')]);
  event.target.submit();
});

for (const zone of document.querySelectorAll('[data-attach]')) {
  zone.addEventListener('change', async (event) => {
    const said = zone.querySelector('output');
    for (const file of event.target.files) {
      said.textContent = `${file.name} …`;
      const answer = await ask(`/api/items/${zone.dataset.attach}/attachments/${encodeURIComponent(file.name)}`,
        { method: 'POST', body: file, headers: { 'content-type': 'application/octet-stream', 'x-proof': proof } });
      const document = answer && await answer.json().catch(() => null);
      if (!answer?.ok || !document?.note) { said.textContent = document?.detail ?? '–'; return; }
    }
    location.reload();
  });
}

/** Ends with what the worklist is now copied, as far as it can be. */
async function copied() {
  isLeaving = true;
  renewed();
  await renewing;
}

if (marked()) await use(marked());
renewed();
offerLeaving({ copied, store: () => store, proof, silent: () => events.close() });
setInterval(() => { if (store && !document.hidden) sent(); }, 5_000);
window.addEventListener('online', () => { if (store) sent(); });
const events = new EventSource(`${root}/api/events`);
events.addEventListener('worklist', () => {
  document.dispatchEvent(new Event('renew'));
  renewed();
});
window.addEventListener('pagehide', () => events.close());
navigator.serviceWorker?.register(`${root}/worker.js`, { scope: root });
