// Draws a terminal's screen as a picture: its text with the colours that escape sequences give. Its argument has the
// screen, the folder, and the picture's name.
import { keep, launch } from './checks.mjs';

const { screen, docs, name } = JSON.parse(process.argv[2]);
const INK = '#e6e9ef';
const PAPER = '#12161f';
const COLOURS = ['#3b4454', '#ff8a80', '#5fcf97', '#f2c063', '#8ab8ff', '#d0a2ff', '#6fd0d6', '#c3cad6',
  '#8a94a6', '#ff9c93', '#6fd6a2', '#f7d488', '#aaccff', '#e0c2ff', '#9be3e7', '#ffffff'];

/** Takes the codes of a sequence over into a style. */
function apply(style, codes) {
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at];
    if (code === 0) Object.assign(style, { ink: INK, paper: PAPER, bold: false, dim: false, turned: false });
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 7) style.turned = true;
    else if (code === 22) Object.assign(style, { bold: false, dim: false });
    else if (code === 27) style.turned = false;
    else if (code === 39) style.ink = INK;
    else if (code === 49) style.paper = PAPER;
    else if (code >= 30 && code < 38) style.ink = COLOURS[code - 30];
    else if (code >= 40 && code < 48) style.paper = COLOURS[code - 40];
    else if (code >= 90 && code < 98) style.ink = COLOURS[code - 82];
    else if (code >= 100 && code < 108) style.paper = COLOURS[code - 92];
    else if ((code === 38 || code === 48) && codes[at + 1] === 5) {
      style[code === 38 ? 'ink' : 'paper'] = COLOURS[codes[at + 2]] ?? INK;
      at += 2;
    }
  }
}

/** The screen as parts of text, each with its style. */
function* parts(text) {
  const style = {};
  apply(style, [0]);
  for (const piece of text.split('\u001b[')) {
    const [, codes, rest] = /^(?:([\d;]*)m)?([^]*)$/.exec(piece);
    if (codes !== undefined) apply(style, codes.split(';').map(Number));
    if (rest) yield { ...style, text: rest };
  }
}

const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 } });
  await page.setContent('<pre></pre>');
  await page.evaluate(([pieces, ink, paper]) => {
    const pre = document.querySelector('pre');
    pre.style = `display:inline-block;margin:0;padding:12px 16px;background:${paper};color:${ink};`
      + 'font:13px/1.25 ui-monospace,monospace;white-space:pre';
    for (const piece of pieces) {
      const span = document.createElement('span');
      span.textContent = piece.text;
      const [front, back] = piece.turned ? [piece.paper, piece.ink] : [piece.ink, piece.paper];
      span.style = `color:${front};background:${back}`;
      if (piece.bold) span.style.fontWeight = 700;
      if (piece.dim) span.style.opacity = 0.7;
      pre.append(span);
    }
  }, [[...parts(screen.trimEnd())], INK, PAPER]);
  await keep(page.locator('pre'), docs, name);
} finally {
  await browser.close();
}
