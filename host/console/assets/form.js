// A form of a work item: its values as JSON, each error next to its field, and a draft at each keystroke.
import { words } from './store.js';

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const fields = (form) => [...form.querySelectorAll('[data-field]')].map((part) => ({
  part, name: part.dataset.field, input: part.querySelector('input, select, textarea'), before: part.dataset.before,
}));

/** The JSON of what was typed; none if it is no value of the field. A number keeps all its digits. */
function valueOf({ part, input, before }) {
  const text = input.value.trim();
  if (text === '') return before === '""' ? before : 'null';
  const chosen = input.selectedOptions?.[0]?.dataset.value;
  if (chosen) return chosen;
  switch (part.dataset.kind) {
    case 'integer': return /^-?\d{1,18}$/.test(text) ? String(BigInt(text)) : null;
    case 'number': {
      const number = !text.includes('.') && text.split(',').length === 2 ? text.replace(',', '.') : text;
      return NUMBER.test(number) ? number : null;
    }
    case 'document': try { JSON.parse(text); return text; } catch { return null; }
    case 'moment': return input.value === input.defaultValue ? before : JSON.stringify(`${text}Z`);
    case 'date': return JSON.stringify(text);
    default: return JSON.stringify(input.value);
  }
}

export function complain(form, name, why) {
  const field = fields(form).find((one) => one.name === name);
  if (!field) return false;
  field.part.querySelector('.wrong').textContent = why;
  if (why) field.input.setAttribute('aria-invalid', 'true'); else field.input.removeAttribute('aria-invalid');
  return true;
}

/** The values that changed or are required, as the text of a JSON object; none when something is wrong. */
export function values(form) {
  const found = [];
  let first = null;
  for (const field of fields(form)) {
    const value = valueOf(field);
    const isRequired = 'required' in field.part.dataset;
    const why = value === null ? field.part.dataset.expected : isRequired && value === 'null' ? words.required : '';
    complain(form, field.name, why);
    if (why) first ??= field.input;
    else if (value !== field.before || isRequired) found.push(`${JSON.stringify(field.name)}:${value}`);
  }
  first?.focus();
  return first ? null : `{${found.join(',')}}`;
}

/** The body of a report as text: digits of numbers are kept. */
export function report(form, success) {
  const given = success ? values(form) : '{}';
  if (given === null) return null;
  const rest = { success, claim: Number(form.dataset.claim), done_at: new Date().toISOString() };
  if (/^\d+$/.test(form.dataset.base)) rest.base = Number(form.dataset.base);
  const reason = form.elements.reason.value.trim();
  if (reason) rest.reason = reason;
  return `${JSON.stringify(rest).slice(0, -1)},"values":${given}}`;
}

const draftOf = (form) => ({
  item: Number(form.dataset.result), reason: form.elements.reason.value,
  texts: Object.fromEntries(fields(form).map(({ name, input }) => [name, input.value])),
});

/** Keeps a draft from now on, and fills the form in from the former one; not over what is typed meanwhile. */
export async function keepDraft(store, form) {
  const typed = new Set();
  form.addEventListener('input', ({ target }) => {
    typed.add(target);
    store.put('draft', draftOf(form));
  });
  const draft = await store.get('draft', Number(form.dataset.result));
  if (!draft) return;
  const fill = (input, text) => { if (text !== undefined && !typed.has(input)) input.value = text; };
  fill(form.elements.reason, draft.reason);
  for (const { name, input } of fields(form)) fill(input, draft.texts[name]);
  if (typed.size) await store.put('draft', draftOf(form));
}

export const draft = draftOf;
