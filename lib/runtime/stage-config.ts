import { resolve } from 'node:path';
import { HandrailError } from '../core/errors.ts';
import { type ConfigFile, readConfig } from './config.ts';
import { readIfThere } from './named-file.ts';

/**
 * The configuration that a deployment of a stage is made from: the file that is named, else `handrail.config.<stage>.yaml` where
 * there is one, else `handrail.config.yaml`. Errors: BAD_REQUEST, also for a named file that is not there.
 */
export function readStageConfig(root: string, stage: string, named?: string): ConfigFile & { readonly path: string } {
  const ofStage = resolve(root, `handrail.config.${stage}.yaml`);
  const path =
    named !== undefined ? resolve(root, named) : readIfThere(ofStage) === undefined ? resolve(root, 'handrail.config.yaml') : ofStage;
  if (named !== undefined && readIfThere(path) === undefined)
    throw new HandrailError('BAD_REQUEST', `there is no configuration file ${path}`);
  return { ...readConfig(path, readIfThere), path };
}
