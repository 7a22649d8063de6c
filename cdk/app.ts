import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { HandrailError } from '../lib/core/errors.ts';
import { NO_WORKSPACE } from '../lib/manifest.ts';
import { noteLine, notesOf } from '../lib/runtime/start-notes.ts';
import { bundleFunctions } from './bundle.ts';
import { readSettings } from './config.ts';
import { addStacks, functionSpecs } from './deploy.ts';
import { deployedSkills } from './skills.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
// CDK copies assets into its own output, so nothing of this is left behind and two runs cannot meet in it.
const outdir = await mkdtemp(join(tmpdir(), 'handrail-bundles-'));
try {
  const app = new App();
  const settings = readSettings(app.node, root, { account: process.env['CDK_DEFAULT_ACCOUNT'] });
  const skills = deployedSkills(settings);
  for (const note of notesOf(settings.config, skills.catalogue)) console.error(`note: ${noteLine(note)}`);
  const functions = functionSpecs({ files: settings.workspace !== NO_WORKSPACE, skills: skills.catalogue });
  const { config, configDirectory } = settings;
  const bundles = await bundleFunctions({ root, outdir, functions, config, configDirectory, skills });
  addStacks(app, { settings, functions, bundles });
  app.synth();
} catch (error) {
  // The operator's mistake, not ours: what and where, without a stack.
  if (!(error instanceof HandrailError) || error.code !== 'BAD_REQUEST') throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await rm(outdir, { recursive: true, force: true });
}
