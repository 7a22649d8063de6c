import type { JsonObject } from '../json.ts';
import type { SkillProblem } from './skill.ts';

/** Where something stands in front matter: keys and indexes from the root. */
export type FieldPath = readonly (string | number)[];

/** Front matter as data, and where each part of it stands. */
export interface FrontMatter {
  readonly data: JsonObject;
  /** Line in the file, from 1, of the field or of the nearest one around it that is there. */
  lineOf(path: FieldPath): number;
}

/** Collects what is wrong with one skill, so that its author is told everything at once. */
export class Notes {
  readonly problems: SkillProblem[] = [];
  readonly warnings: SkillProblem[] = [];
  readonly #file: string;
  readonly #frontMatter: FrontMatter;

  constructor(file: string, frontMatter: FrontMatter) {
    this.#file = file;
    this.#frontMatter = frontMatter;
  }

  /** It cannot be accepted. */
  problem(path: FieldPath, reason: string): void {
    this.problems.push(this.#place(path, reason));
  }

  warn(path: FieldPath, reason: string): void {
    this.warnings.push(this.#place(path, reason));
  }

  #place(path: FieldPath, reason: string): SkillProblem {
    const field = path.join('.');
    return { file: this.#file, line: this.#frontMatter.lineOf(path), reason: field === '' ? reason : `${field}: ${reason}` };
  }
}
