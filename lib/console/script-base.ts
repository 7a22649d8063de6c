/** Elements, requests and sign-in: what the other parts of the console's script stand on. */
export const basePart = `
const $ = (id) => document.getElementById(id);

/** An element with attributes and children; strings become text nodes. */
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(key, value === true ? '' : String(value));
  }
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

class Refused extends Error {
  constructor(problem) {
    super(problem.detail || problem.title || 'The server refused.');
    this.problem = problem;
  }
}

const { signIn, pages } = document.documentElement.dataset;
const byCookie = signIn === 'cookie';
let token;

/** A request to the API: its JSON, or a Refused with the problem document. */
async function api(path, body) {
  const headers = {};
  if (token !== undefined) headers.authorization = 'Bearer ' + token;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(path, { method: body === undefined ? 'GET' : 'POST', headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await response.text();
  if (response.ok) return text === '' ? undefined : JSON.parse(text);
  let problem = { status: response.status, title: 'The server answered ' + response.status + '.' };
  try {
    problem = { ...problem, ...JSON.parse(text) };
  } catch {}
  throw new Refused(problem);
}

function askToSignIn() {
  $('layout').hidden = true;
  $('sign-in').hidden = false;
  $('connection').textContent = '';
  const hints = {
    cookie: pages === 'yes'
      ? 'Open the link that the server printed when it started, or paste the secret from .handrail/server.json.'
      : 'Open the link that "handrail console" printed when it started.',
    bearer: 'Paste your token. It stays in this page and is forgotten when you leave it.',
    signature: 'Requests to this deployment are signed with AWS credentials, which a browser has not. Where you have some, run: npx handrail console --url ' + location.origin,
  };
  $('sign-in-hint').textContent = hints[signIn];
  $('secret-label').textContent = signIn === 'bearer' ? 'Token' : 'Secret';
  $('sign-in-form').hidden = signIn === 'signature' || (byCookie && pages !== 'yes');
  $('secret').focus();
}

$('sign-in-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const secret = $('secret').value.trim();
  $('sign-in-error').textContent = '';
  try {
    if (byCookie) await api('/console/session', { secret });
    else token = secret;
    await api('/runs?limit=1');
    $('secret').value = '';
    $('sign-in').hidden = true;
    refresh();
  } catch (error) {
    token = undefined;
    $('sign-in-error').textContent = error.message;
  }
});

const seconds = (ms) => (ms < 1000 ? Math.round(ms) + ' ms' : ms < 60000 ? (ms / 1000).toFixed(1) + ' s' : Math.floor(ms / 60000) + ' min ' + Math.round((ms % 60000) / 1000) + ' s');
const money = (usd) => (usd === 0 ? '$0' : usd < 0.01 ? '$' + usd.toFixed(4) : '$' + usd.toFixed(2));

function ago(time) {
  const minutes = Math.round((Date.now() - time) / 60000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return minutes + ' min ago';
  if (minutes < 1440) return Math.round(minutes / 60) + ' h ago';
  return new Date(time).toLocaleDateString();
}

function left(time) {
  const minutes = Math.max(0, Math.round((time - Date.now()) / 60000));
  if (minutes < 60) return minutes + ' min';
  if (minutes < 2880) return Math.round(minutes / 60) + ' h';
  return Math.round(minutes / 1440) + ' days';
}

/** Values by name: texts as they are, so that a person can read what a file will hold; everything else as JSON. */
function facts(object) {
  const list = el('dl', { class: 'facts' });
  for (const [name, value] of Object.entries(object)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    list.append(el('dt', {}, name, sizeOf(text)), el('dd', {}, el('pre', {}, text)));
  }
  return list;
}

/** Said of what does not fit into its box: the rest is scrolled, and not every system shows a scroll bar. */
function sizeOf(text) {
  const lines = text.split('\\n').length;
  return text.length < 400 && lines < 12 ? undefined : ' · ' + lines + (lines === 1 ? ' line, ' : ' lines, ') + text.length.toLocaleString('en') + ' characters';
}
`;
