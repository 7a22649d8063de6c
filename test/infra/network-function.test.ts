import { describe, expect, it } from 'vitest';
import { ofType, readable, synthesize } from '../support/stacks.ts';

/** Statements of the policies whose role's name begins so, as text. */
function policiesOf(role: string, config: string): string[] {
  const { agent } = synthesize({}, config);
  return ofType(agent, 'AWS::IAM::Policy')
    .filter(([, { Properties }]) => readable(Properties['Roles']).includes(role))
    .map(([, { Properties }]) => readable(Properties['PolicyDocument']));
}
const MODEL = 'models: { default: { provider: bedrock, model: amazon.nova-lite-v1:0 } }\n';
const secretsIn = (policies: readonly string[]) => policies.flatMap((policy) => policy.match(/secret:[\w/?-]+/g) ?? []);

describe('the network function', () => {
  it('reads the secret of the configured search service, and no other', () => {
    const config = `${MODEL}search: { provider: brave, api_key_secret: prod/brave }\n`;
    expect(secretsIn(policiesOf('Toolsnetwork', config))).toEqual(['secret:prod/brave-??????']);
    expect(secretsIn(policiesOf('Reason', config))).toEqual([]);
  });

  it.each([
    ['none is configured', ''],
    ['the service has no key', 'search: { provider: searxng, base_url: "https://searx.example" }\n'],
  ])('reads no secret where %s', (_why, search) => {
    const policies = policiesOf('Toolsnetwork', `${MODEL}${search}`);
    expect(policies).toHaveLength(1);
    expect(secretsIn(policies)).toEqual([]);
  });

  it('is outside any network of ours, with no files and no tables', () => {
    const { agent } = synthesize({ target: 'aws' });
    const properties = ofType(agent, 'AWS::Lambda::Function')
      .map(([, resource]) => resource.Properties)
      .filter(({ FunctionName }) => FunctionName === 'handrail-tool-network');
    expect(properties).toHaveLength(1);
    expect(properties[0]).not.toHaveProperty('VpcConfig');
    expect(properties[0]).not.toHaveProperty('FileSystemConfigs');
    expect(JSON.stringify(properties[0]?.['Environment'])).not.toMatch(/TABLE|WORKSPACE/);
  });

  it('refuses a secret whose name would match others', () => {
    expect(() => policiesOf('Toolsnetwork', `${MODEL}search: { provider: tavily, api_key_secret: 'prod/*' }\n`)).toThrow('prod/*');
  });
});
