import { describe, expect, it } from 'vitest';
import { splitSkill } from '../../../../lib/adapters/skills/front-matter.ts';
import { HandrailError } from '../../../../lib/core/errors.ts';

const front = (text: string): ReturnType<typeof splitSkill> => splitSkill(`---\n${text}\n---\nThe body.\n`);

function refusal(text: string): { line: unknown; reason: string } {
  try {
    splitSkill(text);
  } catch (error) {
    if (error instanceof HandrailError) return { line: error.extra['line'], reason: error.message };
    throw error;
  }
  throw new Error('it was read');
}

describe('front matter', () => {
  it('is split from the body whatever its line ends, its byte order mark and the spaces behind its fences', () => {
    for (const text of [
      '---\nname: a\n---\nThe body.\n',
      '\uFEFF---\nname: a\n---\nThe body.\n',
      '---\r\nname: a\r\n---\r\nThe body.\r\n',
      '--- \t\nname: a\n---   \nThe body.\n',
      '\uFEFF---  \r\nname: a\r\n--- \r\nThe body.\r\n',
    ]) {
      const { frontMatter, body } = splitSkill(text);
      expect(frontMatter.data).toEqual({ name: 'a' });
      expect(body).toBe('The body.\n');
    }
  });

  it('ends at its first closing fence; rules and fences of the body stay in the body', () => {
    const { body } = splitSkill('---\nname: a\n---\n---\n\ntext\n---\nname: b\n---\n');
    expect(body).toBe('---\n\ntext\n---\nname: b\n---\n');
  });

  it('says where each field stands in the file', () => {
    const { frontMatter } = front('# comment\nname: a\nmetadata:\n  x:\n    - 1\n    - 2');
    expect(frontMatter.lineOf(['name'])).toBe(3);
    expect(frontMatter.lineOf(['metadata', 'x'])).toBe(5);
    expect(frontMatter.lineOf(['metadata', 'x', 1])).toBe(7);
    expect(frontMatter.lineOf(['metadata', 'nothing'])).toBe(4);
  });

  it.each([
    ['on one line', 'name: a\ndescription: Use when: the user asks', 'Use when: the user asks', 3],
    ['with quotes in it', `name: a\ndescription: It's "this": that`, `It's "this": that`, 3],
    ['at the end', 'description: Use this for the following:\nname: a', 'Use this for the following:', 2],
    ['over two lines', 'description: First: one\n  second: two\nname: a', 'First: one second: two', 2],
    ['on the next line', 'name: a\ndescription:\n  Use when: the user asks\n  for it', 'Use when: the user asks for it', 3],
    ['with a hash behind it', 'name: a\ndescription: Fix: issue #12', 'Fix: issue #12', 3],
  ])('reads an unquoted colon %s as text, and says so (R65)', (_where, text, description, line) => {
    const { frontMatter, warnings } = front(text);
    expect(frontMatter.data).toEqual({ name: 'a', description });
    expect(warnings).toEqual([{ line, reason: expect.stringContaining('unquoted ": "') }]);
  });

  it('leaves alone what needs no quotes', () => {
    expect(front('name: a\nurl: https://example.com:8080/x\ntime: 10:30').frontMatter.data).toEqual({
      name: 'a',
      url: 'https://example.com:8080/x',
      time: '10:30',
    });
    expect(front('name: a\nmetadata:\n  b: c').frontMatter.data).toEqual({ name: 'a', metadata: { b: 'c' } });
    expect(front('name: a').warnings).toEqual([]);
  });

  it('reports what is still wrong when quotes have mended the colon, on the line where it stands', () => {
    expect(refusal('---\nname: a\ndescription: one: two\nbad: [1\n---\n')).toMatchObject({ line: 4 });
  });

  it('warns of a description that a comment cuts', () => {
    expect(front('name: a\ndescription: Handles C# and issue #12').warnings).toEqual([
      { line: 3, reason: expect.stringContaining('begins a comment') },
    ]);
  });

  it.each([
    ['nothing', '', 1, 'empty'],
    ['no fence', '# A title\n', 1, 'first line must be ---'],
    ['a rule of Markdown', '----\nname: a\n----\n', 1, 'first line must be ---'],
    ['no closing fence', '---\nname: a\n', 1, 'never closed'],
    ['an indented closing fence', '---\nname: a\n  ---\n', 1, 'never closed'],
    ['CR alone', '---\rname: a\r---\r', 1, 'CR alone'],
    ['another language', '---js\n({})\n---\n', 1, 'another language'],
    ['another language behind a space', '--- js\n({})\n---\n', 1, 'another language'],
    ['comments alone', '---\n# nothing\n---\n', 2, 'empty'],
    ['a list', '---\n- a\n---\n', 2, 'not a map'],
    ['a fence with more', '---\nname: a\n---x\nb: c\n---\n', 1, 'begins with ---'],
    ['a key twice', '---\nname: a\nname: b\n---\n', 3, 'twice'],
    ['a key that is a number', '---\n5: a\n---\n', 2, 'not text'],
    ['an alias', '---\na: &x 1\nb: *x\n---\n', 3, 'aliases'],
    ['a merge key', '---\na: &x {b: 1}\nc:\n  <<: *x\n---\n', 4, 'aliases'],
    ['a tag', '---\na: !secret x\n---\n', 2, 'tag'],
    ['infinity', '---\na: .inf\n---\n', 2, 'not a number'],
    ['a second document', '---\na: 1\n...\nb: 2\n---\n', 4, 'multiple'],
  ])('refuses %s, with its line', (_what, text, line, reason) => {
    expect(refusal(text)).toEqual({ line, reason: expect.stringContaining(reason) });
  });
});
