import { afterEach, describe, expect, test } from 'vitest';
import type { Config } from '../../lib/core/config.ts';
import type { JsonObject } from '../../lib/core/json.ts';
import { parseConfig } from '../../lib/runtime/config.ts';
import { LoopRig } from '../support/loop-rig.ts';
import { loadOne } from '../support/skill-folders.ts';

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  for (const name of ['isAdmin', 'polluted', 'length']) expect(Reflect.get({}, name)).toBeUndefined();
});

const PAYLOADS = [
  '{"__proto__":{"isAdmin":true}}',
  '{"path":"a","__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{"isAdmin":true}}}',
  '{"path":{"__proto__":{"polluted":1}}}',
  '{"__proto__":[1,2,3],"path":"a"}',
  '{"a":{"b":{"constructor":{"prototype":{"polluted":1}}}}}',
];

describe('arguments of a tool call', () => {
  test.each(PAYLOADS)('%s changes no prototype, and gives a handler nothing it did not send', async (payload) => {
    const seen: JsonObject[] = [];
    const look = {
      definition: { name: 'look', parameters: { type: 'object', properties: { path: {} }, additionalProperties: true } },
      handle: (args: JsonObject) => {
        seen.push(args);
        return 'seen';
      },
    };
    const rig = new LoopRig({ tools: [look], turns: [{ calls: [['look', payload]] }, 'done'] });
    expect(await rig.run()).toMatchObject({ status: 'succeeded' });
    for (const args of seen) {
      expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
      expect('isAdmin' in args).toBe(false);
    }
  });

  test.each(PAYLOADS)('%s is no way around a schema that allows nothing else', async (payload) => {
    const strict = {
      definition: { name: 'look', parameters: { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false } },
    };
    const rig = new LoopRig({ tools: [strict], turns: [{ calls: [['look', payload]] }, 'done'] });
    await rig.run();
    expect(rig.handled.size).toBe(0);
  });
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'])(
  '%s is no tool, no agent and no session state',
  async (name) => {
    const rig = new LoopRig({ turns: [{ calls: [[name, {}]] }, 'done'] });
    expect(await rig.run()).toMatchObject({ status: 'succeeded' });
    expect(rig.handled.size).toBe(0);
    await expect(rig.start('go', { agent: name })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  },
);

test.each([
  ['at the top', '__proto__: { isAdmin: true }'],
  ['in metadata', 'metadata: { __proto__: { isAdmin: true } }'],
  ['by constructor', 'metadata:\n  constructor:\n    prototype:\n      isAdmin: true'],
  ['in parameters', 'parameters:\n  __proto__: { type: string }'],
  ['in constraints', 'constraints:\n  guard:\n    tool_policy:\n      __proto__: deny'],
  ['in permissions', 'permissions:\n  __proto__: { filesystem: { read: ["**"] } }'],
])('a skill with such a key %s is not loaded', (_where, text) => {
  const { report } = loadOne('bad', `---\nname: bad\ndescription: d\n${text}\n---\nbody\n`, { 'handler.js': 'export default () => 1;\n' });
  expect(report.status).toBe('rejected');
});

test.each([
  'constraints:\n  guard:\n    tool_policy:\n      __proto__: { isAdmin: true }',
  '__proto__: { isAdmin: true }',
  'agents:\n  __proto__: { system: hello }',
])('a configuration with such a key is refused, or read as if it were not there: %j', (text) => {
  let config: Config | undefined;
  try {
    config = parseConfig(text, 'handrail.config.yaml');
  } catch (error) {
    expect(error).toMatchObject({ code: 'BAD_REQUEST' });
  }
  if (config) for (const record of [config.agents, config.models]) expect(Object.getPrototypeOf(record)).toBe(Object.prototype);
  expect(JSON.stringify(config ?? {})).not.toContain('isAdmin');
});
