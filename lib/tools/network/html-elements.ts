/** What is in a page but not to be read: code, styles, pictures, choices of a form, content for other means of display. */
const UNREAD: ReadonlySet<string> = new Set([
  'script',
  'style',
  'template',
  'iframe',
  'object',
  'embed',
  'canvas',
  'svg',
  'audio',
  'video',
  'map',
  'select',
  'datalist',
  'textarea',
  'rp',
]);

/** Elements that stand in lines of their own, by whether a blank line parts them from others. */
export const BLOCKS: ReadonlyMap<string, boolean> = new Map([
  ...['p', 'section', 'article', 'aside', 'main', 'header', 'footer', 'nav', 'figure', 'details', 'table', 'fieldset', 'dl', 'form'].map(
    (name) => [name, true] as const,
  ),
  ...['address', 'caption', 'center', 'dd', 'div', 'dt', 'figcaption', 'hgroup', 'legend', 'option', 'search', 'summary', 'body'].map(
    (name) => [name, false] as const,
  ),
]);

export const HEADINGS: readonly string[] = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];

/** Marks around text, by element. */
export const EMPHASIS: ReadonlyMap<string, string> = new Map([
  ['b', '**'],
  ['strong', '**'],
  ['em', '*'],
  ['i', '*'],
  ['del', '~~'],
  ['s', '~~'],
  ['code', '`'],
  ['kbd', '`'],
  ['samp', '`'],
]);

/** Attributes that anything depends on; all others are dropped as they come, however many there are. */
export const READ_ATTRIBUTES: ReadonlySet<string> = new Set([
  'href',
  'alt',
  'src',
  'hidden',
  'aria-hidden',
  'style',
  'open',
  'start',
  'type',
]);

const INVISIBLE =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:opacity|font-size)\s*:\s*0(?:\.0*)?(?:[a-z%]+)?\s*(?:!|;|$))/i;

/** Whether a browser would not show an element, as far as its own attributes say. Style sheets are not read. */
export function isHidden(name: string, attributes: ReadonlyMap<string, string>): boolean {
  if (UNREAD.has(name) || attributes.has('hidden') || attributes.get('aria-hidden') === 'true') return true;
  if (name === 'dialog' && !attributes.has('open')) return true;
  return INVISIBLE.test(attributes.get('style') ?? '');
}
