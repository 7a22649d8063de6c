import { Script } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consolePage } from '../../../lib/console/page.ts';
import { consoleScript } from '../../../lib/console/script.ts';
import { consoleStyle } from '../../../lib/console/style.ts';
import { LOCAL_SECRET, send, startLocalServer } from './server.ts';

let fixture: Awaited<ReturnType<typeof startLocalServer>>;
beforeAll(async () => {
  fixture = await startLocalServer();
});
afterAll(() => fixture.server.close());

const laptop = consolePage({ signIn: 'cookie', approvalPages: true });

describe('the page', () => {
  test('is served with a policy under which it can run nothing but its own script', async () => {
    const answer = await send(fixture.server.port, 'GET', '/', { authorization: `Bearer ${LOCAL_SECRET}` });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers['content-security-policy']).toMatch(
      /default-src 'none'; script-src 'self'; .*require-trusted-types-for 'script'/,
    );
    expect(answer.headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
  });

  test('needs nothing that this policy forbids', () => {
    expect(laptop).not.toMatch(/ on\w+=|style=|<style|javascript:|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
    expect([...laptop.matchAll(/<script[^>]*>([^<]*)/g)].map((match) => match[1])).toEqual(['']);
    expect(consoleStyle).not.toMatch(/url\(|@import/);
  });

  test('says how it signs in, and is otherwise the same for everybody', () => {
    const [cookie, bearer] = (['cookie', 'bearer'] as const).map((signIn) => consolePage({ signIn, approvalPages: false }));
    expect(cookie?.replace('"cookie"', '"bearer"')).toBe(bearer);
    expect(laptop.replace('data-pages="yes"', 'data-pages="no"')).toBe(cookie);
  });

  test('has a name for every control', () => {
    for (const [, id] of laptop.matchAll(/<(?:input|textarea) id="(\w+)"/g)) expect(laptop).toContain(`<label for="${id}">`);
  });
});

describe('the script', () => {
  test('parses, and knows no way to turn text into HTML or code', () => {
    expect(() => new Script(consoleScript)).not.toThrow();
    expect(consoleScript).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc|\beval\b|new Function|localStorage/,
    );
  });

  test('finds every element that it asks for by id', () => {
    const made = new Set([...`${laptop}${consoleScript}`.matchAll(/\bid(?:="|: ')([\w-]+)/g)].map((match) => match[1]));
    for (const [, id] of consoleScript.matchAll(/\$\('([\w-]+)'\)/g)) expect(made).toContain(id);
  });
});
