// Serves the page that this device keeps when the network does not bring a page of ours. The server puts the version,
// the address and the files before this text.
'use strict';
const place = `wedflow ${version}`;
const shell = `${root}/away`;
const LONGEST = 10_000;

self.addEventListener('install', (event) => event.waitUntil((async () => {
  const cache = await caches.open(place);
  await cache.addAll([shell, ...files].map((file) => new Request(file, { cache: 'no-cache' })));
  await self.skipWaiting();
})()));

self.addEventListener('activate', (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith('wedflow ') && name !== place) await caches.delete(name);
  await self.clients.claim();
})()));

/** True if our server answers, and no login page of a network. */
async function isServerThere() {
  try {
    const answer = await fetch(`${root}/manifest.json`, { cache: 'no-store', redirect: 'error' });
    return (await answer.json()).id === root;
  } catch {
    return false;
  }
}

async function isOurs(answer) {
  if (answer.type === 'opaqueredirect') return isServerThere();
  const kind = answer.headers.get('content-type') ?? '';
  if (!kind.startsWith('text/html')) return kind.startsWith('application/octet-stream');
  return (await answer.clone().text()).includes('<meta name="generator" content="Wedflow">');
}

async function page(request) {
  const late = new Promise((_, failed) => { setTimeout(failed, LONGEST); });
  try {
    const answer = await Promise.race([fetch(request), late]);
    if (await isOurs(answer)) return answer;
  } catch { /* There is no network. */ }
  return await caches.match(shell) ?? Response.error();
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.location.origin) return;
  if (files.includes(pathname)) event.respondWith(caches.match(request).then((found) => found ?? fetch(request)));
  else if (request.mode === 'navigate') event.respondWith(page(request));
});
