// Results of this device: saved here, sending, confirmed or refused. Each has a key, so that it is applied once however
// often it is sent.
import { ask, kept, root, words } from './store.js';

const pending = (result) => result.state === 'saved' || result.state === 'sending';
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))]
  .map((byte) => byte.toString(16).padStart(2, '0')).join('');

export function keepResult(store, entry, body) {
  const { item, task, instance } = entry;
  return store.keep({ key: newKey(), item, task, instance, body, state: 'saved', at: Date.now() });
}

/** True if a refusal is about the result and not about the moment. Only a problem document of ours is one. */
function isFinal(answer, document) {
  if (document.applied === false && document.code) return answer.status === 409;
  const isOurs = answer.headers.get('content-type')?.startsWith('application/problem+json')
    && document.type === `urn:wedflow:problem:${document.code}` && document.status === answer.status;
  if (!isOurs || answer.status >= 500 || [401, 403, 408, 425, 429].includes(answer.status)) return false;
  return answer.status !== 409 || ['WF082', 'WF084'].includes(document.code);
}

async function sendOne(store, result, proof) {
  await store.put('result', { ...result, state: 'sending' });
  const answer = await ask(`/api/items/${result.item}/report`, {
    method: 'POST', body: result.body,
    headers: { 'content-type': 'application/json', 'idempotency-key': result.key, 'x-proof': proof },
  });
  let document = null;
  try { document = await answer?.json(); } catch { /* Another one answered. */ }
  let state = 'saved';
  if (document !== null && typeof document === 'object') {
    if (answer.ok && document.applied === true) state = 'confirmed';
    else if (isFinal(answer, document)) state = 'refused';
  }
  const done = { ...result, state, answer: state === 'saved' ? undefined : document };
  await store.put('result', done);
  if (state === 'confirmed') await store.remove('item', result.item);
  return done;
}

/** Sends what waits, oldest first, from one tab at a time. */
export async function send(store, proof) {
  const all = async () => {
    for (const result of (await store.all('result')).filter(pending).sort((one, other) => one.at - other.at)) {
      if ((await sendOne(store, result, proof)).state === 'saved') return;
    }
  };
  if (navigator.locks) await navigator.locks.request(`wedflow ${store.name}`, all);
  else await all();
}

export const isWaiting = async (store) => (await store.all('result')).some(pending);

function made(name, text, attributes = {}) {
  const element = document.createElement(name);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

const shown = (value) => (typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value));

/** The values of a refused result beside the present ones. */
function versions(result) {
  const table = made('table', '');
  const row = (kind, cells) => {
    const line = table.appendChild(made('tr', ''));
    cells.forEach((cell, at) => line.append(made(at ? kind : 'th', cell, { scope: kind === 'th' ? 'col' : 'row' })));
    if (kind === 'td') line.querySelectorAll('td').forEach((cell) => cell.removeAttribute('scope'));
  };
  row('th', [words.attribute, words.yours, words.present]);
  for (const [name, value] of Object.entries(JSON.parse(result.body).values)) {
    row('td', [name, shown(value), shown(result.answer?.present?.[name])]);
  }
  return table;
}

/** Makes a refused result a new one: under the claim and over the state that are present now. */
async function again(store, result) {
  const body = JSON.parse(result.body);
  const entry = (await kept(store)).find((one) => one.item === result.item)?.entry;
  const number = (name, value) => (value == null ? result.body : result.body.replace(
    new RegExp(`"${name}":\\d+`), `"${name}":${value}`));
  let text = number('base', result.answer?.base ?? entry?.base);
  if (entry && entry.claim !== body.claim) text = text.replace(/"claim":\d+/, `"claim":${entry.claim}`);
  await store.remove('result', result.key);
  await store.put('result', { ...result, key: newKey(), body: text, state: 'saved', answer: undefined });
}

/** Takes a refused result back into a draft, to be corrected on the item's page. */
async function edit(store, result) {
  const body = JSON.parse(result.body);
  const texts = Object.fromEntries(Object.entries(body.values).map(([name, value]) => [name, shown(value)]));
  await store.put('draft', { item: result.item, reason: body.reason ?? '', texts });
  await store.remove('result', result.key);
  location.assign(`${root}/items/${result.item}`);
}

function acts(store, result, changed) {
  const line = made('p', '', { class: 'acts' });
  const act = (word, does) => {
    const button = line.appendChild(made('button', `${word} · ${result.task}`, { type: 'button' }));
    button.addEventListener('click', async () => { await does(store, result); await changed(); });
  };
  if (result.state === 'refused') {
    act(words.again, again);
    act(words.edit, edit);
  }
  if (!pending(result)) act(words.forget, () => store.remove('result', result.key));
  return line;
}

const badges = { saved: 'pending', sending: 'pending', confirmed: 'final', refused: 'exception' };
let last = '';

/** Shows the results, unless nothing changed; `changed` is called after an act. */
export async function showOutbox(store, changed) {
  const place = document.querySelector('[data-outbox]');
  const results = (await store.all('result')).sort((one, other) => other.at - one.at);
  const now = JSON.stringify(results);
  if (now === last) return;
  last = now;
  place.replaceChildren();
  if (!results.length) return;
  const section = place.appendChild(made('section', '', { 'aria-label': words.results }));
  section.append(made('strong', words.results));
  const list = section.appendChild(made('ol', '', { class: 'items', 'aria-live': 'polite' }));
  for (const result of results) {
    const line = list.appendChild(made('li', '', { class: 'box', 'data-state': result.state }));
    const row = line.appendChild(made('div', '', { class: 'row' }));
    row.append(made('strong', `${result.task} · ${result.instance}`),
      made('span', words[result.state], { class: `badge ${badges[result.state]}` }));
    if (result.state === 'refused') {
      line.append(made('p', result.answer.reason ?? result.answer.detail ?? result.answer.code),
        made('p', result.answer.hint ?? '', { class: 'soft' }), versions(result));
    } else if (pending(result)) line.append(made('p', words.waits, { class: 'soft' }));
    line.append(acts(store, result, changed));
  }
}
