/** Text that is HTML already. Only `html` and `trusted` make it. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: texts are escaped, lists joined, nothing for undefined and false. */
export type Part = string | number | Html | undefined | false | readonly Part[];

/** HTML from a template. Every value is escaped, for text and for attributes in double quotes alike, unless it is HTML itself. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((text, index) => text + (index < parts.length ? rendered(parts[index]) : '')).join(''));
}

/** Text of our own that is HTML, such as a style sheet. Never for anything that came from outside. */
export const trusted = (text: string): Html => new Html(text);

function rendered(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(rendered).join('');
  return String(part).replace(/[&<>"'`]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
