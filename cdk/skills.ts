import type { LoadedSkills } from '../lib/adapters/skills/load.ts';
import { HandrailError } from '../lib/core/errors.ts';
import { wantsOf } from '../lib/core/skills/permissions.ts';
import { checkNames, loadConfiguredSkills, refuseRejected } from '../lib/runtime/skills.ts';
import type { Settings } from './config.ts';

/**
 * The skills of a deployment. BAD_REQUEST, with file and line, for each that was rejected (unless `skills.on_reject` is
 * `skip`), for each name in the configuration that stands for nothing, and for what no network of AWS can give a function.
 */
export function deployedSkills({
  config,
  configDirectory,
  place,
  target,
}: Pick<Settings, 'config' | 'configDirectory' | 'place' | 'target'>): LoadedSkills {
  const loaded = loadConfiguredSkills(config, configDirectory);
  refuseRejected(config, loaded.catalogue);
  checkNames(config, loaded, configDirectory, place);
  if (target === 'aws') refuseTornBetweenNetworks(loaded);
  return loaded;
}

/** Files are mounted where there is no way out, so a trusted skill that asks for both would find only one. */
function refuseTornBetweenNetworks({ catalogue }: LoadedSkills): void {
  for (const skill of catalogue.skills) {
    if (skill.kind !== 'handler') continue;
    const wants = wantsOf(skill.tool.permissions);
    if (wants.network && (wants.read || wants.write))
      throw new HandrailError(
        'BAD_REQUEST',
        `${skill.file}: asks for files and for the network. Trusted or not, in AWS files are mounted where there is no way out: make two skills of it, or deploy without it`,
      );
  }
}
