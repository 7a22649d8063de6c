import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { htmlToMarkdown } from '../../../../lib/tools/network/html-to-markdown.ts';

const read = (html: string, format: 'markdown' | 'text' = 'markdown') =>
  htmlToMarkdown(html, { url: 'https://site.example/docs/page?q=1', format, signal: new AbortController().signal });
const markdown = async (html: string) => (await read(html)).text;

describe('what a page says', () => {
  test.each<[string, string, string]>([
    ['paragraphs', '<p>One\n  two</p><p>three', 'One two\n\nthree'],
    ['line breaks', 'a<br>b<br/>c', 'a\nb\nc'],
    ['headings', '<h1>Top <em>of</em></h1><h3>Sub</h3>text', '# Top *of*\n\n### Sub\n\ntext'],
    ['emphasis', 'a<b> bold </b>b <i>it</i> <code>c()</code> <del>old</del>', 'a **bold** b *it* `c()` ~~old~~'],
    ['nothing emphasised', 'a<b></b>b<em> </em>c', 'ab c'],
    ['entities', '&lt;b&gt; &amp; &eacute; &#x1F600; &nope;', '<b> & é 😀 &nope;'],
    ['lists in lists', '<ul><li>a<ol><li>b<li>c</ol><li>d</ul>', '- a\n  1. b\n  2. c\n- d'],
    ['lists that begin elsewhere', '<ol start="7"><li>g<li>h</ol>', '7. g\n8. h'],
    ['paragraphs in lists', '<ul><li><p>a</p><p>b</p><li>c</ul>', '- a\n\n  b\n\n- c'],
    ['quotes', '<p>x</p><blockquote><p>a</p><ul><li>b</ul></blockquote>y', 'x\n\n> a\n>\n> - b\n\ny'],
    ['code', '<pre><code class="x">if (a &lt; b) {\n\n  c();\n}\n</code></pre>', '```\nif (a < b) {\n\n  c();\n}\n```'],
    ['code with fences in it', '<pre>```\nx\n```</pre>', '````\n```\nx\n```\n````'],
    ['rules', 'a<hr>b', 'a\n\n---\n\nb'],
    [
      'tables',
      '<table><thead><tr><th>Name</th><th>N</th></tr></thead><tr><td>a|b</td><td><p>1</p></td></tr><tr><td>c<td>2</table>',
      '| Name | N |\n| --- | --- |\n| a\\|b | 1 |\n| c | 2 |',
    ],
    ['tables for layout', '<table><tr><td><h2>Left</h2><p>x</p></td><td>Right</td></tr></table>', '## Left\n\nx\n\nRight'],
    ['tables in tables', '<table><tr><td><table><tr><td>a<td>b</table></table>', '| a | b |\n| --- | --- |'],
    ['what a page without scripts shows', '<noscript>Turn on scripts</noscript>', 'Turn on scripts'],
    ['dialogs that are open', '<dialog open>yes</dialog><dialog>no</dialog>', 'yes'],
  ])('%s', async (_what, html, expected) => {
    expect(await markdown(html)).toBe(expected);
  });

  test("has a title in one line, the first one that is not a picture's", async () => {
    const { title, text } = await read(
      '<svg><title>no</title></svg><head><title> A\n  page &amp; more </title></head>text<title>second</title>',
    );
    expect({ title, text }).toEqual({ title: 'A page & more', text: 'text' });
  });
});

describe('links', () => {
  test.each<[string, string, string]>([
    ['relative to the page', '<a href="../a?b=c#d">x</a>', '[x](https://site.example/a?b=c#d)'],
    ['relative to its base', '<base href="/b/"><a href="x">x</a>', '[x](https://site.example/b/x)'],
    ['of several blocks', '<a href="/c"><div><h3>Card</h3><p>text</p></div></a>', '[Card text](https://site.example/c)'],
    ['with brackets', '<a href="/a(b)">x [y]</a>', '[x (y)](https://site.example/a%28b%29)'],
    ['with space around', 'a<a href="/x"> b </a>c', 'a [b](https://site.example/x) c'],
    ['without text', 'a<a href="/x"></a>b', 'ab'],
    ['that nest, which they cannot', '<a href="/x">a<a href="/y">b</a>', '[a](https://site.example/x)[b](https://site.example/y)'],
    ['within the page', '<a href="#top">up</a>', 'up'],
    ['to scripts', '<a href="java\nscript:alert(1)">x</a> <a href="data:text/html,x">y</a>', 'x y'],
    ['with credentials', '<a href="https://user:pw@x.example/">x</a>', 'x'],
    ['by mail', '<a href="mailto:a@b.example">mail</a>', '[mail](mailto:a@b.example)'],
    ['of pictures', '<a href="/x"><img src="i.png" alt="pic"></a>', '[pic](https://site.example/x)'],
  ])('%s', async (_what, html, expected) => {
    expect(await markdown(html)).toBe(expected);
  });

  test('and pictures by their description, never by their data', async () => {
    expect(await markdown('<img src="/i.png" alt="A cat"><img src="data:image/png;base64,AAAA" alt="B"><img src="/c.png">')).toBe(
      '![A cat](https://site.example/i.png)B',
    );
  });

  test('and marks are left out of plain text', async () => {
    const html = '<h1>T</h1><p><b>a</b> <a href="/x">b</a><ul><li>c</ul><table><tr><td>1<td>2</table><pre>x\n  y</pre>';
    expect((await read(html, 'text')).text).toBe('T\n\na b\n\n- c\n\n1 | 2\n\nx\n  y');
  });
});

describe('what nobody is shown is not read', () => {
  test.each([
    '<script>SECRET</script>',
    '<style>SECRET</style>',
    '<template>SECRET</template>',
    '<!-- SECRET -->',
    '<p hidden>SECRET</p>',
    '<div hidden="until-found"><p>SECRET</div>',
    '<div aria-hidden="true">SECRET</div>',
    '<div style="color: red; display : none !important">SECRET</div>',
    '<span style="visibility:hidden">SECRET</span>',
    '<span style="opacity: 0">SECRET</span>',
    '<span style="font-size:0px;">SECRET</span>',
    '<div hidden><div>SECRET</div><p>SECRET<p>SECRET</div>',
    '<iframe>SECRET</iframe>',
    '<svg><text>SECRET</text></svg>',
    '<select><option>SECRET</option></select>',
    '<textarea>SECRET</textarea>',
    '<input type="hidden" value="SECRET">',
    '<meta name="description" content="SECRET">',
    '<a href="/x" title="SECRET" data-x="SECRET"></a>',
  ])('%s', async (html) => {
    expect(await markdown(`before ${html} after`)).toMatch(/^before\s+after$/);
  });

  test('but what is only nearly hidden is', async () => {
    expect(await markdown('<span style="opacity: 0.5; font-size: 0.8em; background: url(display:none)">seen</span>')).toBe('seen');
  });
});

describe('a page that was made to be trouble', () => {
  const MB = 1024 * 1024;
  test.each<[string, string]>([
    ['deep', '<div>'.repeat(MB)],
    ['deep in lists', '<ul><li>x'.repeat(MB / 4)],
    ['deep in gathered text', `${'<b><a href=x><h1>'.repeat(150)}${'word '.repeat(MB)}`],
    ['a million attributes', `<a ${Array.from({ length: MB / 2 }, (_, index) => `a${index}`).join(' ')}>`],
    ['one attribute of many megabytes', `<a href="${'x'.repeat(5 * MB)}">x</a>`],
    ['one style of many spaces', `<p style="${' '.repeat(5 * MB)}">x</p>`],
    ['closing tags only', '</p></div>'.repeat(MB / 4)],
    ['tables in tables', '<table><tr><td>'.repeat(MB / 8)],
    ['many cells', `<table>${'<tr><td>a<td>b'.repeat(MB / 4)}`],
    ['many ticks', `<pre>${'` '.repeat(MB)}`],
    ['open comments', '<!--'.repeat(MB)],
    ['less-than signs', '<'.repeat(5 * MB)],
    ['names of what every object has', '<constructor><__proto__ __proto__=1 constructor=2>x</tostring>'],
  ])('%s is read or cut, and soon', { timeout: 20_000 }, async (_what, html) => {
    const { text, cut } = await read(html);
    expect(text.length).toBeLessThan(1_200_000);
    if (html.length > 1_200_000 && text.length > 1_000_000) expect(cut).toBeDefined();
  });

  test('is given up when its time is over', async () => {
    const controller = new AbortController();
    const reading = htmlToMarkdown('<p>text</p>'.repeat(MB), { url: 'https://a.example/', format: 'markdown', signal: controller.signal });
    setImmediate(() => controller.abort(new Error('enough')));
    await expect(reading).rejects.toThrow('enough');
  });

  test('whatever it is made of, it is read without an error, and its script never shows', async () => {
    const tags =
      'a href=x|/a|b|/b|p|/p|ul|li|/ul|table|tr|td|/table|pre|/pre|h1|/h1|div hidden|/div|script|/script|title|/title|blockquote|br|svg|base href=//';
    const tag = fc.constantFrom(...tags.split('|')).map((name) => `<${name}>`);
    const words = fc.string({ maxLength: 12 }).map((text) => text.replaceAll('<', ''));
    const piece = fc.oneof(tag, words, fc.constant('<script>SECRET</script>'));
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        const { text } = await read(pieces.join(''));
        expect(text).not.toContain('SECRET');
        if (!text.includes('```')) expect(text).not.toMatch(/\n{3}/);
      }),
      { numRuns: 500 },
    );
  });
});
