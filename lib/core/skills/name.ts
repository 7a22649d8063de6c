import type { Json } from '../json.ts';
import { SKILL } from '../limits.ts';
import type { Notes } from './notes.ts';

const PLAIN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** The seed's own example is `web_scraper`; the standard knows hyphens only. */
const WITH_UNDERSCORES = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;
/** Letters without case, or in lower case, of other scripts. */
const OTHER_SCRIPTS = /^[\p{Ll}\p{Lo}\p{Nd}\p{M}]+(?:-[\p{Ll}\p{Lo}\p{Nd}\p{M}]+)*$/u;
/** What other readers of YAML take for a boolean, null or a date. */
const AMBIGUOUS = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|\d{4}-\d{1,2}-\d{1,2})$/;
/** Names that a file cannot have on Windows. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;
const VENDOR_WORDS = /(?:^|-)(?:claude|anthropic)(?:-|$)/;

/** What reads as a name: NFC, without space around it. Undefined after a problem was noted. */
export function readName(value: Json | undefined, directory: string, notes: Notes): string | undefined {
  const path = ['name'];
  if (value === undefined || value === null) return refuse(notes, `there is none; this folder suggests "${directory}"`);
  if (typeof value !== 'string') return refuse(notes, `is ${kindOf(value)}, not text; put quotes around it if it is meant as a name`);
  const name = value.normalize('NFC').trim();
  if (name === '') return refuse(notes, 'is blank');
  if (name.normalize('NFKC') !== name) return refuse(notes, 'has letters that only look like others; write it in plain letters');
  if (AMBIGUOUS.test(name)) return refuse(notes, `other readers of YAML take "${name}" for something else than text; choose another name`);
  if (!OTHER_SCRIPTS.test(name) && !WITH_UNDERSCORES.test(name))
    return refuse(notes, `${JSON.stringify(name)} is not lower-case letters and digits in parts joined by single hyphens`);
  if ([...name].length > 2 * SKILL.nameCharacters) return refuse(notes, `is longer than ${2 * SKILL.nameCharacters} characters`);
  if ([...name].length > SKILL.nameCharacters) notes.warn(path, `is longer than the standard's ${SKILL.nameCharacters} characters`);
  if (!PLAIN.test(name)) notes.warn(path, 'the standard has a-z, 0-9 and single hyphens only; other programs may refuse it');
  if (DEVICE.test(name)) notes.warn(path, 'is the name of a device on Windows, where no folder can be called so');
  if (VENDOR_WORDS.test(name)) notes.warn(path, 'holds a word that its vendor reserves; that vendor’s programs refuse it');
  if (name !== directory.normalize('NFC')) notes.warn(path, `differs from the name of its folder, "${directory}"`);
  else if (value !== name || directory !== name) notes.warn(path, 'and the folder agree only after normalising (NFC)');
  return name;
}

function refuse(notes: Notes, reason: string): undefined {
  notes.problem(['name'], reason);
  return undefined;
}

/** What JSON calls a value, for people. */
export function kindOf(value: Json): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}
