/** The decisions that people are asked for. A card stays as it is while it waits, so that nobody's typing is lost. */
export const approvalsPart = `
const cards = new Map();

function showApprovals(approvals) {
  const shown = [...approvals].sort((a, b) => (b.runId === selected) - (a.runId === selected) || a.requestedAt - b.requestedAt);
  const ids = new Set(shown.map((approval) => approval.approvalId));
  for (const [id, card] of cards) {
    if (ids.has(id)) continue;
    card.remove();
    cards.delete(id);
  }
  for (const approval of shown) {
    if (cards.has(approval.approvalId)) continue;
    const card = approvalCard(approval);
    cards.set(approval.approvalId, card);
    $('approvals').append(card);
  }
  $('approvals-section').hidden = shown.length === 0;
  document.title = shown.length === 0 ? 'Handrail' : '(' + shown.length + ') Handrail';
}

function approvalCard(approval) {
  const question = approval.kind === 'question';
  const failure = el('p', { role: 'alert' });
  const reason = el('input', { class: 'reason', placeholder: question ? 'Your answer' : 'Reason, if you reject (the agent reads it)', 'aria-label': question ? 'Answer' : 'Reason' });
  const choices = question && !approval.argumentsCut && Array.isArray(approval.arguments.choices) ? approval.arguments.choices : [];
  const decide = async (decision, text = reason.value.trim()) => {
    const body = decision === 'answer' ? { decision, answer: text } : decision === 'reject' && text !== '' ? { decision, reason: text } : { decision };
    for (const control of card.querySelectorAll('button, input')) control.disabled = true;
    failure.textContent = '';
    try {
      await api('/approvals/' + encodeURIComponent(approval.approvalId), body);
    } catch (error) {
      failure.textContent = error.message;
      for (const control of card.querySelectorAll('button, input')) control.disabled = false;
    }
    refresh();
  };
  const buttons = choices.length > 0
    ? choices.map((choice) => el('button', { onclick: () => decide('answer', String(choice)) }, String(choice)))
    : question
    ? [el('button', { class: 'primary', onclick: () => decide('answer') }, 'Answer')]
    : [el('button', { class: 'primary', onclick: () => decide('approve') }, 'Approve'), el('button', { class: 'danger', onclick: () => decide('reject') }, 'Reject')];
  const card = el(
    'section',
    { class: 'approval', 'aria-label': 'Approval of ' + approval.tool },
    el('h3', {}, question ? 'The agent asks' : 'The agent wants to run ', question ? '' : el('code', {}, approval.tool)),
    el('p', { class: 'why' }, approval.reason, ' · ', el('a', { href: '#/runs/' + approval.runId }, 'its run'), ' · decide within ' + left(approval.expiresAt), ...pageLink(approval)),
    facts(approval.arguments),
    approval.argumentsCut ? el('p', { class: 'why' }, 'Cut: the arguments are too large to be shown whole.') : undefined,
    el('div', { class: 'decide' }, ...buttons, choices.length > 0 ? undefined : reason),
    failure,
  );
  return card;
}

/** The same on a page of its own, where arguments can be changed and several are decided at once. By cookie only, and where there are such pages: a link takes no token along. */
function pageLink(approval) {
  if (pages !== 'yes') return [];
  return [' · ', el('a', { href: '/a/' + approval.approvalId.split('.')[0] }, 'as a page')];
}
`;
