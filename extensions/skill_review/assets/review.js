// Every page works without this. It reads lists again when something has changed, and says so where somebody may be writing.

const { live, count } = document.body.dataset;
if (live) listen();

/** A stream holds one of the few connections that a browser opens to one server, so only the page that is seen has one. */
function listen() {
  let stream;
  const connect = () => {
    if (document.hidden) {
      stream?.close();
      stream = undefined;
    } else if (!stream) {
      stream = new EventSource('/events');
      stream.addEventListener('count', ({ data }) => changed(data));
    }
  };
  document.addEventListener('visibilitychange', connect);
  connect();
}

let seen = count;
let reading = false;
let wanted;

async function changed(now) {
  if (now === seen) return;
  if (live !== 'refresh') return notice();
  wanted = now;
  if (reading) return;
  reading = true;
  try {
    while (wanted !== seen) {
      const next = wanted;
      await readAgain();
      seen = next;
    }
  } catch {
    notice();
  } finally {
    reading = false;
  }
}

for (const form of document.querySelectorAll('form[data-search]')) searchAsTyped(form);

/** The list is read again a moment after the last key. The address says what is searched for, so a reload shows the same. */
function searchAsTyped(form) {
  let timer;
  const read = () => {
    const given = [...new FormData(form)].filter(([, value]) => value.trim() !== '');
    const address = given.length > 0 ? `${form.action}?${new URLSearchParams(given)}` : form.action;
    if (address === location.href) return;
    history.replaceState(null, '', address);
    readAgain().catch(notice);
  };
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(read, 150);
  });
}

/** A second press was meant for the page before. One clock for keys and clicks: while it runs, the style takes no click. */
const isEarly = () => document.getAnimations().some(({ animationName }) => animationName === 'appear');

addEventListener('submit', (event) => event.target.closest('.decide') && isEarly() && event.preventDefault(), true);

const KEYS = { j: () => move(1), k: () => move(-1), a: () => toButton('a'), r: () => toButton('r') };

document.addEventListener('keydown', (event) => {
  const { key, altKey, ctrlKey, metaKey, repeat, target } = event;
  if (altKey || ctrlKey || metaKey || repeat || isEarly() || !Object.hasOwn(KEYS, key)) return;
  if (target.closest('textarea, select, input:not([type=checkbox])')) return;
  event.preventDefault();
  KEYS[key]();
});

/** To the next page of a row, or in a list to the next line. */
function move(step) {
  const link = document.querySelector(step > 0 ? 'a[rel=next]' : 'a[rel=prev]');
  if (link) return link.click();
  const lines = [...document.querySelectorAll('.card :is(a.title, [name=picked])')];
  const at = lines.indexOf(document.activeElement);
  lines[Math.min(lines.length - 1, at === -1 ? 0 : Math.max(0, at + step))]?.focus();
}

for (const one of document.querySelectorAll('[data-keys]')) one.hidden = false;

const read = new Set();

/** Only the focus: Enter decides. Before it gets to approving, each finding has had it. */
function toButton(key) {
  const findings = key === 'a' ? [...document.querySelectorAll('[data-finding]')] : [];
  const unread = findings.find((one) => !read.has(one));
  if (unread) read.add(unread);
  // The buttons are in sight.
  (unread ?? document.querySelector(`[data-key=${key}]`))?.focus({ preventScroll: !unread });
}

function notice() {
  for (const one of document.querySelectorAll('[data-changed]')) one.hidden = false;
}

/** Puts the new parts in the place of the old ones. The focus stays where it is, or on the same link in the new part. */
async function readAgain() {
  const asked = location.href;
  const answer = await fetch(asked, { credentials: 'same-origin' });
  if (!answer.ok) throw new Error(String(answer.status));
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  // Somebody has typed on: that answer comes as well, and this one may be the last.
  if (location.href !== asked) return;
  for (const part of document.querySelectorAll('[data-live][id]')) {
    const next = fresh.getElementById(part.id);
    if (!next || next.innerHTML === part.innerHTML) continue;
    const focused = part.contains(document.activeElement) ? document.activeElement : undefined;
    if (focused && ['INPUT', 'TEXTAREA', 'SELECT'].includes(focused.tagName)) return notice();
    const address = focused?.getAttribute('href');
    part.replaceChildren(...next.childNodes);
    if (!focused) continue;
    const same = [...part.querySelectorAll('a')].find((link) => link.getAttribute('href') === address);
    (same ?? document.getElementById('main')).focus({ preventScroll: true });
  }
}
