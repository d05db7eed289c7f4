// The designer: numbers and colours the text, lets the server draw it anew after a change, and changes it from the
// picture. The text is the one truth; each answer that belongs to an older text is dropped.
const form = document.querySelector('[data-design]');
const text = form.querySelector('textarea[name=text]');
const drawn = document.querySelector('#drawn');
const pause = 350;

/** The colours of the text: keywords, strings, comments. */
const isProcess = form.dataset.design === 'pdl';
const words = isProcess
  ? 'WORKFLOW|TASK|SUB-WORKFLOW|APPLICATION|FILE|QUERY|STRING|NUMBER|DEPENDS|ROLE|IN_CONTEXT|OUT_CONTEXT|DESCRIPTION|'
    + 'TYPE|PRIORITY|DEADLINE|DISCONNECTED_OPERATION|RETRIES|AND|OR|NAME|VALUE|FILENAME|SIZE|OS|CPU|INSTALLER|HOSTS|'
    + 'DATABASE|EXPRESSION'
  : 'CREATE|WED-[A-Z]+|FINAL|AS|ON|WHEN|FIRE|WRITES|DEFAULT|OPEN|ENABLE|DISABLE|DESCRIPTION|COMPONENT|AND|OR|NOT|IS|'
    + 'NULL|TRUE|FALSE';
const token = isProcess
  ? new RegExp(`(\\/\\/.*|\\/\\*[^]*?\\*\\/)|("[^"]*")|\\b(${words})\\b`, 'g')
  : new RegExp(`(--.*|\\/\\*[^]*?\\*\\/)|('[^']*'|"[^"]*")|\\b(${words})\\b`, 'gi');
const lines = Object.assign(document.createElement('div'), { className: 'lines', ariaHidden: 'true' });
const ink = Object.assign(document.createElement('pre'), { className: 'ink', ariaHidden: 'true' });
text.before(lines, ink);

function paint() {
  ink.replaceChildren();
  let at = 0;
  for (const found of text.value.matchAll(token)) {
    const kind = found[1] ? 'comment' : found[2] ? 'string' : 'word';
    const piece = Object.assign(document.createElement('span'), { className: kind, textContent: found[0] });
    ink.append(text.value.slice(at, found.index), piece);
    at = found.index + found[0].length;
  }
  ink.append(`${text.value.slice(at)}\n`);
  number();
}

/** Numbers the lines; those with errors are marked. */
function number() {
  const found = [...drawn.querySelectorAll('[data-line]')];
  const wrong = new Map(found.map((one) => [Number(one.dataset.line), one.className]));
  const count = text.value.split('\n').length;
  lines.replaceChildren(...Array.from({ length: count }, (_, at) => Object.assign(document.createElement('div'),
    { textContent: at + 1, className: wrong.get(at + 1) ?? '' })));
  follow();
}

function follow() {
  lines.scrollTop = text.scrollTop;
  ink.scrollTop = text.scrollTop;
  ink.scrollLeft = text.scrollLeft;
}

/** Asks the server for the part beside the text; `fields` say what is to be changed. */
const former = [];
let asked = 0;
async function draw(fields = {}) {
  asked += 1;
  const mine = asked;
  const sent = text.value;
  const body = new URLSearchParams(new FormData(form));
  Object.entries({ act: 'draw', part: 'yes', ...fields }).forEach(([name, value]) => body.set(name, value));
  try {
    const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual' });
    if (answer.status !== 200 || mine !== asked || text.value !== sent) return false;
    show(await answer.text(), sent);
    return true;
  } catch { return false; /* The server is away: the next change asks again. */ }
}

function show(answer, sent) {
  const kept = ['task', 'after', 'name'].map((name) => [name, form.elements[name]?.value]);
  drawn.innerHTML = answer;
  const changed = drawn.querySelector('[data-text]');
  changed.remove();
  if (changed.value !== sent) {
    former.push(sent);
    text.value = changed.value;
  }
  for (const [name, value] of kept) {
    const field = form.elements[name];
    if (field?.tagName === 'INPUT' || [...field?.options ?? []].some((one) => one.value === value)) field.value = value;
  }
  drawn.querySelector('[data-undo]')?.toggleAttribute('hidden', former.length === 0);
  paint();
}

/** Changes a task of the picture; afterwards its box has the focus again. */
async function change(box, fields) {
  const { task, workflow } = box.dataset;
  const done = await draw({ task: `${workflow}/${task}`, ...fields });
  if (done) find(fields.name ?? task, workflow)?.focus();
}

const boxes = () => [...drawn.querySelectorAll('[data-task]')];
const find = (task, workflow) => boxes().find((one) => one.dataset.task === task && one.dataset.workflow === workflow);

/** Chooses a task for the fields below the picture. */
function choose(box) {
  form.elements.task.value = `${box.dataset.workflow}/${box.dataset.task}`;
  form.elements.name.value = box.dataset.task;
  boxes().forEach((one) => one.classList.toggle('chosen', one === box));
}

/** Moves a task a place up or down among the tasks of its workflow, in the order of the text. */
function step(box, by) {
  const { workflow, task } = box.dataset;
  const all = [...form.elements.task.options].map((one) => one.value).filter((one) => one.startsWith(`${workflow}/`))
    .map((one) => one.slice(workflow.length + 1));
  const at = all.indexOf(task);
  if (at + by < 0 || at + by >= all.length) return;
  change(box, { act: 'move', after: by > 0 ? all[at + 1] : all[at - 2] ?? '' });
}

let timer;
text.addEventListener('input', () => { paint(); clearTimeout(timer); timer = setTimeout(draw, pause); });
text.addEventListener('scroll', follow);
new ResizeObserver(follow).observe(text);

form.addEventListener('click', (event) => {
  const box = event.target.closest('[data-task]');
  const error = event.target.closest('[data-line]');
  if (box) { event.preventDefault(); choose(box); }
  if (event.target.closest('[data-undo]')) { text.value = former.pop(); draw(); }
  if (!error) return;
  event.preventDefault();
  const before = text.value.split('\n').slice(0, error.dataset.line - 1).join('\n').length;
  const at = before + (error.dataset.line > 1 ? 1 : 0) + Number(error.dataset.column) - 1;
  text.focus();
  text.setSelectionRange(at, at);
});

// What is asked for by a button is drawn in place, once the page's own script has asked whether it is meant; what is
// applied leads to another page.
document.addEventListener('submit', (event) => {
  const act = event.submitter?.value;
  if (event.target !== form || event.defaultPrevented || act === 'apply') return;
  event.preventDefault();
  draw({ act: act ?? 'preview' });
});

drawn.addEventListener('keydown', (event) => {
  const box = event.target.closest('[data-task]');
  if (!box) return;
  const keys = {
    F2: () => { choose(box); form.elements.name.focus(); form.elements.name.select(); },
    Delete: () => { choose(box); form.querySelector('[value=delete]').click(); },
    Enter: () => choose(box),
  };
  const act = event.altKey && event.key.startsWith('Arrow')
    ? () => step(box, ['ArrowDown', 'ArrowRight'].includes(event.key) ? 1 : -1) : keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
form.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.target.name !== 'name') return;
  event.preventDefault();
  form.querySelector('[value=rename]').click();
});

// A box is dragged onto another one; a link's own dragging would take its address along.
let held;
drawn.addEventListener('dragstart', (event) => event.preventDefault());
drawn.addEventListener('pointerdown', (event) => {
  const box = event.target.closest('[data-task]');
  if (box && event.button === 0 && event.pointerType !== 'touch') held = { box, x: event.clientX, y: event.clientY };
});
const under = (event) => {
  const box = document.elementFromPoint(event.clientX, event.clientY)?.closest('[data-task]');
  return box && box !== held.box && box.dataset.workflow === held.box.dataset.workflow ? box : null;
};
document.addEventListener('pointermove', (event) => {
  if (!held || Math.hypot(event.clientX - held.x, event.clientY - held.y) < 6) return;
  held.box.classList.add('held');
  boxes().forEach((one) => one.classList.toggle('target', one === under(event)));
});
document.addEventListener('pointerup', (event) => {
  if (!held) return;
  const { box } = held;
  const target = box.classList.contains('held') ? under(event) : null;
  held = undefined;
  boxes().forEach((one) => one.classList.remove('held', 'target'));
  if (target) change(box, { act: 'move', after: target.dataset.task });
});

paint();
