import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MINUTES = 120_000;

function twoOfOneName(): string {
  const directory = mkdtempSync(join(tmpdir(), 'handrail-config-'));
  const checker = "export const createChecker = () => ({ name: 'same', check: async () => ['ALLOW', ''], reset() {} });\n";
  for (const name of ['a.mjs', 'b.mjs']) writeFileSync(join(directory, name), checker);
  const config = join(directory, 'handrail.config.yaml');
  writeFileSync(config, 'constraints: { guard: { checkers: [a.mjs, b.mjs] } }\n');
  return config;
}

/** The CDK app as `cdk synth` runs it, on a machine that knows nothing of AWS: no account, no region, no credentials. */
function synth(context: Readonly<Record<string, string>>): Promise<{ code: number | null; output: string; outdir: string }> {
  const outdir = mkdtempSync(join(tmpdir(), 'handrail-synth-'));
  const env = { PATH: process.env['PATH'], HOME: outdir, CDK_OUTDIR: join(outdir, 'out'), CDK_CONTEXT_JSON: JSON.stringify(context) };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['cdk/app.ts'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output, outdir: join(outdir, 'out') }));
  });
}

describe('synth without an AWS account', () => {
  it.each(['aws', 'emulator'])(
    'writes both stacks for target %s',
    async (target) => {
      const { code, output, outdir } = await synth({ target });
      expect([code, output]).toEqual([0, expect.any(String)]);
      expect(readdirSync(outdir)).toEqual(expect.arrayContaining(['handrail-state.template.json', 'handrail-agent.template.json']));
    },
    MINUTES,
  );

  it(
    'stops at a mistake in the configuration, with file, line and field',
    async () => {
      const config = join(mkdtempSync(join(tmpdir(), 'handrail-config-')), 'wrong.yaml');
      writeFileSync(config, 'target: aws\nagents:\n  default:\n    mode: sideways\n');
      const { code, output } = await synth({ config });
      expect(code).toBe(1);
      expect(output).toMatch(/^wrong\.yaml:4: agents\.default\.mode: /m);
      expect(output).not.toContain('    at ');
    },
    MINUTES,
  );

  it.each([
    ['checkers of one name', { config: twoOfOneName() }, /^constraints\.guard\.checkers: .*"same"/m],
    ['a stage that there is not', { stage: 'production' }, /^context stage: there is no stage "production"; there are dev, prod\./m],
    ['a setting that there is not', { logDay: '7' }, /^context logDay: there is no such setting .* did you mean logDays\?/m],
    ['an account without its region', { account: '123456789012' }, /^context region: is missing/m],
  ] as [string, Record<string, string>, RegExp][])(
    'stops at %s, and shows no stack of ours',
    async (_what, context, message) => {
      const { code, output } = await synth(context);
      expect(code).toBe(1);
      expect(output).toMatch(message);
      expect(output).not.toContain('    at ');
    },
    MINUTES,
  );
});
