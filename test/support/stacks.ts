import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as z from 'zod';
import type { Bundles } from '../../cdk/bundle.ts';
import { readSettings } from '../../cdk/config.ts';
import { addStacks, functionSpecs } from '../../cdk/deploy.ts';
import { noSkills, type SkillCatalogue } from '../../lib/core/skills/skill.ts';
import { NO_WORKSPACE } from '../../lib/manifest.ts';

const resourceSchema = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
});
const templateSchema = z.object({
  Resources: z.record(z.string(), resourceSchema),
  Parameters: z.record(z.string(), z.unknown()).default({}),
});
export type Resource = z.infer<typeof resourceSchema>;

export interface SynthesizedStacks {
  readonly app: App;
  readonly state: z.infer<typeof templateSchema>;
  readonly agent: z.infer<typeof templateSchema>;
}

/** Named, since the targets have different defaults. */
const MODEL = 'models: { default: { provider: bedrock, model: "global.anthropic.claude-sonnet-4-5-20250929-v1:0" } }';

/** Both stacks as templates, with an empty file in place of each bundle: what is tested with this is not the code. */
export function synthesize(
  context: Readonly<Record<string, string>> = {},
  config = MODEL,
  skills: SkillCatalogue = noSkills,
): SynthesizedStacks {
  const directory = mkdtempSync(join(tmpdir(), 'handrail-infra-'));
  const settingsFile = join(directory, 'handrail.config.yaml');
  writeFileSync(settingsFile, config);
  const app = new App({ context: { ...featureFlags(), config: settingsFile, ...context }, outdir: join(directory, 'out') });
  const settings = readSettings(app.node, directory);
  const functions = functionSpecs({ files: settings.workspace !== NO_WORKSPACE, skills });
  const stacks = addStacks(app, { settings, functions, bundles: emptyBundles(directory, functions) });
  return { app, state: templateOf(stacks.state), agent: templateOf(stacks.agent) };
}

/** Resources of a type, by logical id. */
export function ofType(template: SynthesizedStacks['agent'], type: string): [string, Resource][] {
  return Object.entries(template.Resources).filter(([, resource]) => resource.Type === type);
}

/** References as readable text: `<AWS::Region>`, `<LogicalId.Arn>`, `<import …>`. */
export function readable(value: unknown): string {
  if (typeof value === 'string') return value;
  const reference = z
    .union([
      z.object({ Ref: z.string() }).transform(({ Ref }) => `<${Ref}>`),
      z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) }).transform(({ 'Fn::GetAtt': path }) => `<${path.join('.')}>`),
      z
        .object({ 'Fn::ImportValue': z.string() })
        .transform(({ 'Fn::ImportValue': name }) => `<import ${name.replace(/^.*ExportsOutput/, '')}>`),
      z
        .object({ 'Fn::Join': z.tuple([z.literal(''), z.array(z.unknown())]) })
        .transform(({ 'Fn::Join': [, parts] }) => parts.map(readable).join('')),
    ])
    .safeParse(value);
  return reference.success ? reference.data : JSON.stringify(value);
}

/** As deployed: the flags change templates. */
function featureFlags(): Record<string, unknown> {
  const file = fileURLToPath(new URL('../../cdk.json', import.meta.url));
  return z.object({ context: z.record(z.string(), z.unknown()) }).parse(JSON.parse(readFileSync(file, 'utf8'))).context;
}

const templateOf = (stack: Stack) => templateSchema.parse(Template.fromStack(stack).toJSON());

function emptyBundles(directory: string, functions: ReturnType<typeof functionSpecs>): Bundles {
  const bundle = mkdtempSync(join(directory, 'bundle-'));
  writeFileSync(join(bundle, 'index.mjs'), '');
  return new Map(functions.map(({ name }) => [name, { directory: bundle, bytes: 0, inputs: [] }]));
}
