import { describe, expect, it } from 'vitest';
import { readPage } from '../../../skills/web-scraper/page.ts';

const PAGE = `<!doctype html><html><head><title>A &amp; B</title><style>p{}</style></head><body>
<nav><a href="/menu">Menu</a></nav>
<h1>First</h1><p>Some <a href="/one">text</a> and <a href="javascript:alert(1)">this</a>.</p>
<h2>Second</h2><ul><li>one</li><li>two</li></ul>
<table><tr><th>Name</th><th>Value</th></tr><tr><td>a</td><td>1</td></tr></table>
<script>evil('<p>never</p>')</script><noscript>no</noscript></body></html>`;

describe('the web-scraper skill', () => {
  it('reads a page as Markdown, as text and as its parts', () => {
    const page = readPage(PAGE, 'https://docs.example.com/guide/');
    expect(page.title).toBe('A & B');
    expect(page.markdown).toMatch(/^# First\n\nSome \[text\]\(https:\/\/docs\.example\.com\/one\)/);
    expect(page.markdown).toContain('- one\n- two');
    expect(page.text).not.toMatch(/evil|never|Menu|p\{\}/);
    expect(page.headings).toEqual([
      { level: 1, text: 'First' },
      { level: 2, text: 'Second' },
    ]);
    expect(page.links).toEqual([{ text: 'text', url: 'https://docs.example.com/one' }]);
    expect(page.tables).toEqual([
      [
        ['Name', 'Value'],
        ['a', '1'],
      ],
    ]);
  });

  it('takes whatever the web sends', () => {
    expect(readPage('', 'https://a.example/')).toMatchObject({ title: '', text: '', links: [] });
    expect(readPage('<h1>open <b>never closed', 'https://a.example/').markdown).toBe('# open never closed');
    expect(readPage('<td>a cell without a table</td></tr></script>end', 'https://a.example/').text).toContain('end');
  });
});
