import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from 'aws-cdk-lib';
import { HandrailError } from '../lib/core/errors.ts';
import { NO_WORKSPACE } from '../lib/manifest.ts';
import { notesOf, type StartNote } from '../lib/runtime/start-notes.ts';
import { bundleFunctions } from './bundle.ts';
import { type Credentials, readSettings } from './config.ts';
import { addStacks, functionSpecs } from './deploy.ts';
import { deployedSkills } from './skills.ts';

/** Settings, bundles and stacks of one deployment, written by `app`. `root`: the project. What the operator should know of them. */
export async function synthesize(app: App, root: string, credentials: Credentials = {}): Promise<readonly StartNote[]> {
  // CDK copies assets into its own output, so nothing of this is left behind and two runs cannot meet in it.
  const outdir = await mkdtemp(join(tmpdir(), 'handrail-bundles-'));
  try {
    const settings = readSettings(app.node, root, credentials);
    const skills = deployedSkills(settings);
    const functions = functionSpecs({ files: settings.workspace !== NO_WORKSPACE, skills: skills.catalogue });
    const { config, configDirectory, place } = settings;
    const bundles = await bundleFunctions({ root, outdir, functions, config, configDirectory, place, skills });
    addStacks(app, { settings, functions, bundles });
    app.synth();
    return notesOf(config, skills.catalogue);
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

/** What the operator has to mend, without a stack; undefined for a fault of ours. */
export function mistakeIn(error: unknown): string | undefined {
  return error instanceof HandrailError && error.code !== 'INTERNAL' ? error.message : undefined;
}
