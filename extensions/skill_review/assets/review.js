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
