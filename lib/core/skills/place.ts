import type { Json } from '../json.ts';
import { kindOf } from './name.ts';
import type { Notes } from './notes.ts';
import type { SkillFile } from './skill.ts';

/**
 * A path that front matter names, as one of the files that lie in the skill's folder. What is not listed there exactly so is
 * refused: a directory, a link, another case, anything outside. Undefined after a problem was noted.
 */
export function filePath(value: Json, field: string, files: readonly SkillFile[], notes: Notes): string | undefined {
  const refuse = (reason: string): undefined => {
    notes.problem([field], reason);
    return undefined;
  };
  if (typeof value !== 'string' || value.trim() === '') return refuse(`must be the path of a file in this folder, not ${kindOf(value)}`);
  const shown = JSON.stringify(value.slice(0, 100));
  if (/\p{Cc}|\\/u.test(value)) return refuse(`${shown} has characters that no path here has`);
  if (/^[a-z][a-z0-9+.-]*:/i.test(value)) return refuse(`${shown} is an address; the file has to lie in this folder`);
  const path = value.replace(/^(?:\.\/)+/, '');
  if (path.startsWith('/') || path.startsWith('~') || path.split('/').includes('..')) return refuse(`${shown} leads out of this folder`);
  if (files.some((file) => file.path === path)) return path;
  const near = files.find((file) => file.path.toLowerCase() === path.toLowerCase());
  return refuse(
    near
      ? `there is no ${shown}; there is "${near.path}", in other letters`
      : `there is no file ${shown} in this folder (links do not count)`,
  );
}
