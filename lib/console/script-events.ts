/** The event log of the run that is shown: only ever added to, but for the sign of life of a call, which moves on. */
export const eventsPart = `
let log = { keys: new Set(), next: 0, started: 0, progress: new Map() };

function resetEvents() {
  log = { keys: new Set(), next: 0, started: 0, progress: new Map() };
}

async function loadEvents(runId, list) {
  for (let more = true; more; ) {
    const page = await api('/runs/' + runId + '/events?after=' + log.next);
    if (runId !== selected) return;
    for (const event of page.events) addEvent(event, list);
    more = page.more;
    log.next = page.next;
  }
}

function addEvent(event, list) {
  if (log.keys.has(event.key)) return;
  log.keys.add(event.key);
  if (log.started === 0) log.started = event.at;
  const { callId } = event.data;
  const node = eventNode(event);
  if (event.type === 'tool.call.progress') {
    const before = log.progress.get(callId);
    if (before) before.replaceWith(node);
    else list.append(node);
    log.progress.set(callId, node);
    return;
  }
  if (event.type === 'tool.call.completed' || event.type === 'tool.call.failed') {
    log.progress.get(callId)?.remove();
    log.progress.delete(callId);
  }
  list.append(node);
}

function eventNode(event) {
  const { tone, what, text } = describe(event);
  return el(
    'li',
    { class: tone },
    el('div', { class: 'head' }, el('span', { class: 'what' }, ...what), el('time', { datetime: new Date(event.at).toISOString(), title: new Date(event.at).toLocaleString() }, '+' + seconds(Math.max(0, event.at - log.started)))),
    text === undefined || text === '' ? undefined : el('pre', {}, text),
  );
}

/** What an event means to a person. An event of an unknown type shows as it is. */
function describe({ type, data }) {
  const tool = el('code', {}, String(data.tool ?? ''));
  const words = (value) => (typeof value === 'string' ? value : value === undefined ? undefined : JSON.stringify(value, null, 2));
  const failure = data.error === undefined ? '' : typeof data.error === 'string' ? data.error : [data.error.code, data.error.message].filter(Boolean).join(': ');
  switch (type) {
    case 'run.started': return { tone: '', what: ['Started by ' + (data.by ?? 'someone')] };
    case 'run.continued': return { tone: 'minor', what: ['Goes on in a new execution'] };
    case 'run.recovered': return { tone: 'minor', what: ['Taken up again after a restart'] };
    case 'run.cancel_requested': return { tone: 'bad', what: ['Cancel asked for by ' + (data.by ?? 'someone')] };
    case 'run.finished': return { tone: data.status === 'succeeded' ? 'good' : 'bad', what: ['Finished: ' + (data.outcome ?? data.status)], text: failure };
    case 'llm.call.completed': return { tone: 'minor', what: ['Model ' + (data.model ?? '') + ' answered' + (data.duration === undefined ? '' : ' in ' + seconds(data.duration)) + (data.totalTokens === undefined ? '' : ', ' + data.totalTokens + ' tokens')] };
    case 'llm.call.failed': return { tone: 'bad', what: ['Model ' + (data.model ?? '') + ' failed'], text: failure };
    case 'guard.decision': return { tone: data.decision === 'ALLOW' ? 'minor' : data.decision === 'DENY' ? 'bad' : 'ask minor', what: ['Guard: ' + String(data.decision ?? '').toLowerCase() + ' ', tool, data.decision === 'ALLOW' || !data.reason ? '' : ' · ' + data.reason] };
    case 'approval.requested': return { tone: 'ask', what: ['A person is asked about ', tool] };
    case 'approval.resolved': return { tone: data.status === 'approved' || data.status === 'edited' || data.status === 'answered' ? 'good' : 'bad', what: [tool, ' ' + data.status + (data.by === undefined ? '' : ' by ' + data.by)], text: data.reason };
    case 'tool.call.started': return { tone: 'busy', what: [tool, ' called'], text: words(data.args_preview) };
    case 'tool.call.progress': return { tone: 'busy minor', what: [tool, ' is at work for ' + seconds(data.elapsedMs ?? 0)] };
    case 'tool.call.completed': return { tone: 'good', what: [tool, ' answered' + (data.duration === undefined ? '' : ' in ' + seconds(data.duration))], text: words(data.result_preview) };
    case 'tool.call.failed': return { tone: 'bad', what: [tool, ' failed'], text: failure };
    default: return { tone: 'minor', what: [type], text: words(data) };
  }
}
`;
