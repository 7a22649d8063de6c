import { describe, expect, it } from 'vitest';
import { rightsIn } from '../support/rights.ts';
import { ofType, synthesize } from '../support/stacks.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:approvals-of-ours';
const MODEL = 'models: { default: { provider: scripted, script: x.yaml } }\n';
const noticeRights = (notices: string) => {
  const rights = rightsIn(synthesize({}, `${MODEL}notices: ${notices}\n`).agent);
  return rights
    .filter(({ action }) => /^(?:sns:Publish|events:PutEvents|secretsmanager:)/.test(action))
    .map(({ role, action, resource }) => `${role} ${action} ${resource}`)
    .sort();
};

describe('rights to tell people', () => {
  // Not within a test: making the first stacks takes its time on a busy machine.
  const none = noticeRights('{}');

  it('are none where no channel is configured', () => {
    expect(none).toEqual([]);
  });

  it('are for the configured topic, bus and secrets, and for the two functions that tell', () => {
    const rights = noticeRights(
      `{ sns_topic_arn: "${TOPIC}", event_bus: ops, webhook: { url_secret: slack/url, signing_secret: slack/signing } }`,
    );
    expect(rights).toEqual(
      ['Suspend', 'Sweep'].flatMap((role) => [
        `${role} events:PutEvents events:…:event-bus/ops`,
        `${role} secretsmanager:GetSecretValue secretsmanager:…:secret:slack/signing-??????`,
        `${role} secretsmanager:GetSecretValue secretsmanager:…:secret:slack/url-??????`,
        `${role} sns:Publish ${TOPIC}`,
      ]),
    );
  });

  it('are the bus of events alone, for every function that writes events', () => {
    const rights = rightsIn(synthesize({}, `${MODEL}events: { bus: activity }\n`).agent).filter(
      ({ action }) => action === 'events:PutEvents',
    );
    expect(rights.map(({ role, resource }) => `${role} ${resource}`).sort()).toEqual(
      ['Api', 'Reason', 'Settle', 'Suspend', 'Sweep'].map((role) => `${role} events:…:event-bus/activity`),
    );
  });

  it('need no name of an address: both functions are told the API’s own', () => {
    const { agent } = synthesize({}, MODEL);
    const told = ofType(agent, 'AWS::Lambda::Function').filter(([, { Properties }]) =>
      JSON.stringify(Properties).includes('HANDRAIL_API_URL'),
    );
    expect(told.map(([, { Properties }]) => Properties['FunctionName']).sort()).toEqual(['handrail-suspend', 'handrail-sweep']);
  });

  it('refuse a configuration that gives a webhook two addresses, or none', () => {
    for (const webhook of ['{ url: "https://a.example", url_secret: b }', '{ format: json }'])
      expect(() => synthesize({}, `${MODEL}notices: { webhook: ${webhook} }\n`)).toThrow('notices.webhook: give either url or url_secret');
  });
});
