// What this device keeps of a person's work: items in the order of the worklist, drafts, results. Each person has a
// store of one's own; which one is shown is named by a mark, which signing out removes.
const mark = 'wedflow-work';
export const root = '/console/work';
export const words = JSON.parse(document.querySelector('meta[name=wedflow-words]').content);

const settled = (request) => new Promise((done, failed) => {
  request.onsuccess = () => done(request.result);
  request.onerror = () => failed(request.error);
});

/** The person whose store is shown: server, tenant and name. */
export const marked = () => localStorage.getItem(mark);
export const unmark = () => localStorage.removeItem(mark);
/** True if the mark names a person of a tenant. */
export const isMarkOf = (person) => Boolean(marked()?.endsWith(`/${person}`));
export const setMark = (whose) => {
  const name = `${whose.server}/${whose.tenant}/${whose.person}`;
  localStorage.setItem(mark, name);
  return name;
};

export async function openStore(name) {
  const request = indexedDB.open(`wedflow ${name}`, 2);
  request.onupgradeneeded = ({ oldVersion }) => {
    if (oldVersion < 1) {
      request.result.createObjectStore('item', { keyPath: 'item' });
      request.result.createObjectStore('draft', { keyPath: 'item' });
      request.result.createObjectStore('result', { keyPath: 'key' });
    }
    request.result.createObjectStore('file', { keyPath: ['item', 'note'] });
  };
  const database = await settled(request);
  // A tab with a later program must not wait for this one.
  database.onversionchange = () => database.close();
  const on = (name, mode, act) => {
    const transaction = database.transaction(name, mode);
    const done = settled(act(transaction.objectStore(name)));
    // A write outlives a page that is left in the same moment.
    transaction.commit?.();
    return done;
  };
  return {
    name,
    get: (name, key) => on(name, 'readonly', (store) => store.get(key)),
    all: (name) => on(name, 'readonly', (store) => store.getAll()),
    put: (name, value) => on(name, 'readwrite', (store) => store.put(value)),
    remove: (name, key) => on(name, 'readwrite', (store) => store.delete(key)),
    clear: (name) => on(name, 'readwrite', (store) => store.clear()),
    /** Keeps a result and ends its draft, or neither. */
    keep: (result) => new Promise((done, failed) => {
      const both = database.transaction(['draft', 'result'], 'readwrite', { durability: 'strict' });
      both.objectStore('draft').delete(result.item);
      both.objectStore('result').put(result);
      both.oncomplete = () => done(result);
      both.onabort = () => failed(both.error);
    }),
  };
}

/** The items in the order of the worklist. */
export async function kept(store) {
  return (await store.all('item')).sort((one, other) => one.place - other.place);
}

/** A JSON document with a member that only an answer of ours has; none: another one answered. */
export async function understood(answer, member) {
  if (!answer.ok || answer.type === 'opaqueredirect') return null;
  try {
    const document = await answer.json();
    return document !== null && typeof document === 'object' && member in document ? document : null;
  } catch {
    return null;
  }
}

/** Asks the server; none when there is no network. */
export async function ask(path, options = {}) {
  try {
    const signal = AbortSignal.timeout(20_000);
    return await fetch(root + path, { redirect: 'manual', cache: 'no-store', signal, ...options });
  } catch {
    return null;
  }
}

const hexadecimal = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Takes the rest of a file as far as it comes. A file is whole once it has its digest; one that has another begins
 * anew. */
async function receive(store, file, answer) {
  const parts = [file.part];
  try {
    for await (const part of answer.body) parts.push(part);
  } catch { /* The link was cut: what came is kept. */ }
  let part = new Blob(parts);
  let isWhole = false;
  if (part.size >= file.bytes) {
    isWhole = hexadecimal(await crypto.subtle.digest('SHA-256', await part.arrayBuffer())) === file.digest;
    if (!isWhole) part = new Blob();
  }
  const received = { ...file, part, isWhole };
  await store.put('file', received);
  return received;
}

/** Copies a file from the byte where its copy was cut. */
async function copyFile(store, file) {
  const known = await store.get('file', [file.item, file.note]);
  let one = known?.digest === file.digest ? known : { ...file, part: new Blob(), isWhole: false };
  for (let last = -1; !one.isWhole && one.part.size > last;) {
    last = one.part.size;
    const path = `/api/items/${file.item}/attachments/${file.note}`;
    const answer = await ask(path, { headers: { range: `bytes=${last}-` } });
    if (answer?.status !== 206 || answer.headers.get('etag') !== `"sha256-${file.digest}"`) return;
    one = await receive(store, one, answer);
  }
}

/** Copies the files of an item, and removes those that it has no more. */
async function copyFiles(store, item, files) {
  for (const { note } of (await store.all('file')).filter((one) => one.item === item)) {
    if (!files.some((file) => file.note === note)) await store.remove('file', [item, note]);
  }
  for (const { note, file, bytes, digest } of files) await copyFile(store, { item, note, name: file, bytes, digest });
}

const pause = (seconds) => new Promise((done) => { setTimeout(done, seconds * 1000); });

/** The items that this device has whole, with their files. */
export async function whole(store) {
  const files = await store.all('file');
  return (await kept(store)).filter((one) => one.page && (one.files ?? []).every(({ note }) => (
    files.some((file) => file.item === one.item && file.note === note && file.isWhole))));
}

/** Copies the worklist: what is locked first, then the rest in its order. What is no longer listed is removed. Where it
 * rests, the list alone is copied. */
export async function copy(order, opened, rests = false) {
  const answer = await ask(`/api/items?limit=1000&order=${encodeURIComponent(order)}`);
  const list = answer && await understood(answer, 'for');
  if (!list || !Array.isArray(list.items)) return null;
  const store = await opened(list.for);
  const former = new Map((await store.all('item')).map((one) => [one.item, one]));
  for (const [place, entry] of list.items.entries()) {
    const known = former.get(entry.item);
    former.delete(entry.item);
    await store.put('item', { ...known, item: entry.item, place, entry });
  }
  for (const one of former.values()) {
    if (list.cut && one.entry.state === 'READY') continue;
    await store.remove('item', one.item);
    await copyFiles(store, one.item, []);
  }
  const wanted = rests ? [] : list.items.filter((entry) => entry.disconnected || entry.state !== 'READY');
  const rank = (entry) => ['LOCKED', 'RUNNING', 'SELECTED', 'READY'].indexOf(entry.state);
  for (const entry of wanted.sort((one, other) => rank(one) - rank(other))) {
    const known = await store.get('item', entry.item);
    if (!known) continue;
    if (known.mark === entry.mark && known.page) { await copyFiles(store, entry.item, known.files ?? []); continue; }
    const sent = await ask(`/items/${entry.item}/kept`);
    if (sent?.status === 429 || sent?.status === 503) { await pause(2); continue; }
    const whole = sent && await understood(sent, 'page');
    // One write: a part of a copy is never there.
    if (whole && whole.item?.item === entry.item) {
      const { item: document, page, row, files } = whole;
      await store.put('item', { ...known, document, page, row, files, mark: entry.mark });
      await copyFiles(store, entry.item, files);
    }
  }
  return store;
}
