import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { noteLine } from '../lib/runtime/start-notes.ts';
import { mistakeIn, synthesize } from './synthesize.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
try {
  const notes = await synthesize(new App(), root, { account: process.env['CDK_DEFAULT_ACCOUNT'] });
  for (const note of notes) console.error(`note: ${noteLine(note)}`);
} catch (error) {
  const mistake = mistakeIn(error);
  if (mistake === undefined) throw error;
  console.error(mistake);
  process.exitCode = 1;
}
