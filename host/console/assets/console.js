// Keeps live parts of a page current while it is seen, leads by keys, and asks before what cannot be undone.
'use strict';
const soonest = 4000;
const latest = 120000;
document.documentElement.classList.add('js');

// A part that stays the same is asked for less and less often. Nobody's typing is taken away.
const isTyped = (part) => part.contains(document.activeElement) || part.querySelector('[data-typed]')
  || [...part.querySelectorAll('input, textarea')].some((field) => field.value !== field.defaultValue);

const shown = new Map();
async function renew(part) {
  if (document.hidden || isTyped(part)) return false;
  try {
    const answer = await fetch(part.dataset.live, { redirect: 'manual' });
    if (answer.status !== 200) return false;
    const text = await answer.text();
    const isNew = shown.has(part) && shown.get(part) !== text;
    const isFirst = !shown.has(part) && ('once' in part.dataset || part.childElementCount === 0);
    if (isNew || isFirst) part.innerHTML = text;
    shown.set(part, text);
    return isNew;
  } catch { return false; /* The server is away: the next time tells. */ }
}
function keepCurrent(part) {
  let wait = soonest;
  let timer;
  const look = async () => {
    clearTimeout(timer);
    wait = await renew(part) ? soonest : Math.min(wait * 1.5, latest);
    clearTimeout(timer);
    if (!('once' in part.dataset)) timer = setTimeout(look, wait);
  };
  const wake = () => { wait = soonest; look(); };
  const wakeIfLate = () => { if (wait > 3 * soonest) wake(); };
  look();
  if ('once' in part.dataset) return;
  document.addEventListener('visibilitychange', wake);
  document.addEventListener('renew', wake);
  document.addEventListener('pointerdown', wakeIfLate);
  document.addEventListener('keydown', wakeIfLate);
}
document.querySelectorAll('[data-live]').forEach(keepCurrent);

// Whoever signs in next sees nothing of what this device kept of another person.
if (document.querySelector('#token')) localStorage.removeItem('wedflow-work');

document.addEventListener('submit', (event) => {
  const asks = event.submitter?.dataset.ask;
  if (asks && !window.confirm(asks)) event.preventDefault();
});

let before = '';
document.addEventListener('keydown', (event) => {
  const typing = event.target.closest('input, textarea, select');
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') {
    const search = document.querySelector('[data-search]');
    if (search) { search.focus(); event.preventDefault(); }
  } else if (before === 'g') {
    document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  }
  before = event.key;
});

document.addEventListener('input', (event) => {
  const slider = event.target.closest('[data-slides]');
  if (!slider) return;
  const steps = [...document.querySelectorAll(slider.dataset.slides)];
  steps.forEach((row, at) => { row.hidden = at >= slider.value; });
  showState(steps.filter((row) => !row.hidden), steps.every((row) => !row.hidden));
});

/** Shows the state after the last one of some steps: each value as the last of them that changed it has it. */
function showState(steps, isPresent) {
  const moment = document.querySelector('[data-moment]');
  if (!moment) return;
  moment.textContent = isPresent ? moment.dataset.moment : `${moment.dataset.past} ${steps.at(-1).dataset.step}`;
  for (const cell of document.querySelectorAll('[data-value-of]')) {
    cell.present ??= cell.innerHTML;
    const changes = steps.flatMap((step) => [...step.querySelectorAll('[data-change]')]);
    const last = changes.findLast((change) => change.dataset.change === cell.dataset.valueOf);
    const past = last?.querySelector('[data-now]').innerHTML ?? '<span class="null">null</span>';
    cell.innerHTML = isPresent ? cell.present : past;
  }
}

// On a narrow page the navigation scrolls: the page that is shown is in sight.
document.querySelector('.top nav [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });

for (const zone of document.querySelectorAll('[data-upload]')) {
  const said = zone.querySelector('output');
  const send = async (file) => {
    const name = zone.querySelector('[name=name]').value || file.name.replace(/\.wasm$/, '').replace(/_/g, '-');
    said.textContent = '…';
    const answer = await fetch(`${zone.dataset.upload}/${encodeURIComponent(name)}`,
      { method: 'POST', body: file, headers: { 'content-type': 'application/wasm', 'x-proof': zone.dataset.proof } });
    said.textContent = await answer.text();
    if ('stay' in zone.dataset) said.innerHTML = said.textContent;
    else if (answer.ok) setTimeout(() => location.reload(), 1500);
  };
  zone.querySelector('[type=file]').addEventListener('change', (event) => send(event.target.files[0]));
  zone.addEventListener('dragover', (event) => { event.preventDefault(); zone.classList.add('over'); });
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  zone.addEventListener('drop', (event) => {
    event.preventDefault();
    zone.classList.remove('over');
    if (event.dataTransfer.files[0]) send(event.dataTransfer.files[0]);
  });
}
