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
  const request = indexedDB.open(`wedflow ${name}`, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('item', { keyPath: 'item' });
    request.result.createObjectStore('draft', { keyPath: 'item' });
    request.result.createObjectStore('result', { keyPath: 'key' });
  };
  const database = await settled(request);
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

const pause = (seconds) => new Promise((done) => { setTimeout(done, seconds * 1000); });

/** Copies the worklist: what is locked first, then the rest in its order. What is no longer listed is removed. */
export async function copy(order, opened) {
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
    if (!(list.cut && one.entry.state === 'READY')) await store.remove('item', one.item);
  }
  const wanted = list.items.filter((entry) => entry.disconnected || entry.state !== 'READY');
  const rank = (entry) => ['LOCKED', 'RUNNING', 'SELECTED', 'READY'].indexOf(entry.state);
  for (const entry of wanted.sort((one, other) => rank(one) - rank(other))) {
    const known = await store.get('item', entry.item);
    if (!known || known.mark === entry.mark && known.page) continue;
    const sent = await ask(`/items/${entry.item}/kept`);
    if (sent?.status === 429 || sent?.status === 503) { await pause(2); continue; }
    const whole = sent && await understood(sent, 'page');
    // One write: a part of a copy is never there.
    if (whole && whole.item?.item === entry.item) {
      await store.put('item', { ...known, document: whole.item, page: whole.page, row: whole.row, mark: entry.mark });
    }
  }
  return store;
}
