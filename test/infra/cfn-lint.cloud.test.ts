import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lint } from '../support/cfn-lint.ts';
import { synthesize } from '../support/stacks.ts';

const directory = mkdtempSync(join(tmpdir(), 'handrail-lint-'));

function templatesOf(name: string, context: Record<string, string>): string[] {
  return synthesize(context)
    .app.synth()
    .stacks.map(({ stackName, template }) => {
      const path = join(directory, `${name}-${stackName}.json`);
      writeFileSync(path, JSON.stringify(template));
      return path;
    });
}

/** Its schemas know what a property may be in CloudFormation; CDK's types do not. */
describe('cfn-lint', () => {
  it.each([
    ['aws', { target: 'aws', alarmsMail: 'ops@example.com', approvalsMail: 'boss@example.com', reservedConcurrency: 'tool-code=5' }],
    ['emulator', { target: 'emulator' }],
    ['none', { network: 'none' }],
    ['dev', { stage: 'dev' }],
  ] as [string, Record<string, string>][])('finds nothing in the templates: %s', async (name, context) => {
    expect(await lint(templatesOf(name, context))).toBe('');
  });

  it('would find something', async () => {
    const path = join(directory, 'wrong.json');
    writeFileSync(path, JSON.stringify({ Resources: { Wrong: { Type: 'AWS::S3Files::MountTarget', Properties: { SubnetId: 1 } } } }));
    expect(await lint([path])).toMatch(/FileSystemId/);
  });
});
