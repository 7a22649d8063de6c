/** The list of runs, the run that is shown, the form that starts one, and the loop that keeps all of it fresh. */
export const runsPart = `
const ENDED = ['succeeded', 'failed', 'cancelled', 'limited'];
let selected;
let selectedRun;
let listLimit = 20;
let timer;
let refreshing = false;
let again = false;

const runOfAddress = () => (/^#\\/runs\\/([\\w-]+)$/.exec(location.hash) || [])[1];

function select() {
  const wanted = runOfAddress();
  if (wanted !== selected) {
    selected = wanted;
    selectedRun = undefined;
    resetEvents();
    $('run').replaceChildren();
    $('run').hidden = true;
    $('continue').checked = false;
  }
  $('welcome').hidden = selected !== undefined;
  document.body.classList.toggle('reading', selected !== undefined);
  for (const link of $('runs').querySelectorAll('a')) markCurrent(link);
  refresh();
}

function markCurrent(link) {
  if (link.hash === '#/runs/' + selected) link.setAttribute('aria-current', 'true');
  else link.removeAttribute('aria-current');
}

/** One round at a time; a wish that comes meanwhile is another round right after. */
async function refresh() {
  if (signIn === 'signature') {
    askToSignIn();
    return;
  }
  if (refreshing) {
    again = true;
    return;
  }
  refreshing = true;
  clearTimeout(timer);
  let pause = 3000;
  try {
    const [{ runs, cursor }, { approvals }] = await Promise.all([api('/runs?limit=' + listLimit), api('/approvals')]);
    $('layout').hidden = false;
    $('sign-in').hidden = true;
    showRuns(runs, cursor);
    showApprovals(approvals);
    if (selected !== undefined) await showSelected(selected);
    $('connection').textContent = '';
    const active = runs.some((run) => run.status === 'running') || (selectedRun && selectedRun.status === 'running');
    pause = document.hidden ? 10000 : active ? 1000 : 3000;
  } catch (error) {
    if (error.problem && error.problem.status === 401) {
      askToSignIn();
      pause = undefined;
    } else $('connection').textContent = error.problem ? error.message : 'The server does not answer; trying again.';
  }
  refreshing = false;
  if (again) {
    again = false;
    refresh();
  } else if (pause !== undefined) timer = setTimeout(refresh, pause);
}

let listed = '';

function showRuns(runs, cursor) {
  $('more').hidden = cursor === undefined || listLimit >= 100;
  const now = JSON.stringify([runs, runs.map((run) => ago(run.createdAt))]);
  if (now === listed) return;
  listed = now;
  const focused = document.activeElement && document.activeElement.hash;
  $('runs').replaceChildren(
    ...runs.map((run) => {
      const link = el(
        'a',
        { href: '#/runs/' + run.runId, 'data-status': run.status },
        el('span', { class: 'dot', 'aria-hidden': 'true' }),
        el('span', { class: 'text' }, run.input),
        el('span', { class: 'sub' }, run.status + ' · ' + ago(run.createdAt) + ' · ' + money(run.cost)),
      );
      markCurrent(link);
      return el('li', {}, link);
    }),
  );
  if (focused) for (const link of $('runs').querySelectorAll('a')) if (link.hash === focused) link.focus();
  if (runs.length === 0) $('runs').append(el('li', { class: 'sub' }, 'None yet.'));
}

async function showSelected(runId) {
  let run;
  try {
    run = await api('/runs/' + runId);
  } catch (error) {
    if (!error.problem || error.problem.status !== 404 || runId !== selected) throw error;
    $('run').hidden = false;
    $('run').replaceChildren(el('a', { class: 'back', href: '#' }, '‹ All runs'), el('p', {}, 'There is no such run.'));
    return;
  }
  if (runId !== selected) return;
  selectedRun = run;
  if (!$('events')) $('run').replaceChildren(el('div', { id: 'summary' }), el('h3', { class: 'label' }, 'What happened'), el('ol', { id: 'events', 'aria-label': 'Events' }));
  $('run').hidden = false;
  showSummary(run);
  $('continue-label').hidden = !ENDED.includes(run.status);
  await loadEvents(runId, $('events'));
}

let summarised = '';

function showSummary(run) {
  const now = JSON.stringify(run);
  if (now === summarised && $('summary').hasChildNodes()) return;
  summarised = now;
  const ended = ENDED.includes(run.status);
  const number = (value, name) => el('span', {}, el('b', {}, value), ' ' + name);
  const cancel = el('button', { class: 'danger', disabled: run.cancelRequestedAt !== undefined, onclick: cancelSelected }, run.cancelRequestedAt === undefined ? 'Cancel' : 'Cancelling');
  $('summary').replaceChildren(
    el('a', { class: 'back', href: '#' }, '‹ All runs'),
    el('div', { class: 'title', 'data-status': run.status }, el('h2', {}, run.input), el('span', { class: 'badge', role: 'status' }, el('span', { class: 'dot', 'aria-hidden': 'true' }), statusWords(run)), ended ? '' : cancel),
    el('p', { class: 'numbers' }, number(money(run.cost), 'cost'), number(String(run.usage.totalTokens), 'tokens'), number(String(run.iterations), 'iterations'), number(String(run.toolCalls), 'tool calls'), number(seconds((run.endedAt || Date.now()) - run.createdAt), ended ? 'in all' : 'so far')),
    run.error === undefined ? '' : el('p', { class: 'answer error' }, run.error.code + ': ' + run.error.message),
    run.answer === undefined ? '' : el('div', { class: 'answer' }, run.answer),
  );
}

function statusWords(run) {
  if (run.status === 'waiting') return 'waiting for a person';
  if (run.status === 'limited') return 'limited: ' + String(run.outcome).replaceAll('_', ' ');
  return run.status;
}

async function cancelSelected(event) {
  event.target.disabled = true;
  try {
    await api('/runs/' + selected + '/cancel', {});
  } catch (error) {
    $('connection').textContent = error.message;
  }
  refresh();
}

$('composer').addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = $('composer').querySelector('button');
  $('composer-error').textContent = '';
  button.disabled = true;
  try {
    const body = { input: $('input').value };
    if ($('continue').checked && selectedRun) body.sessionId = selectedRun.sessionId;
    const run = await api('/runs', body);
    $('input').value = '';
    location.hash = '#/runs/' + run.runId;
  } catch (error) {
    if (error.problem && error.problem.status === 401) askToSignIn();
    else $('composer-error').textContent = error.message;
  }
  button.disabled = false;
});

$('input').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) $('composer').requestSubmit();
});
$('more').addEventListener('click', () => {
  listLimit = 100;
  refresh();
});
addEventListener('hashchange', select);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && $('sign-in').hidden) refresh();
});
select();
`;
