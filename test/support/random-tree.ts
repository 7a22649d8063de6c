import fc from 'fast-check';
import type { Json } from '../../lib/core/json.ts';

const KEYS = ['a', 'b', 'c'];
const key = fc.constantFrom(...KEYS);
const value: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(0, 1, 2, 'x', 'y', { n: 1 }, [1, 'x'], true);
const template = fc.constantFrom('plain', '{{a}}', 'see {{b}} and {{c}}', '{{a}}{{a}}');
const optional = <T>(name: string, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof(
    fc.constant({}),
    arbitrary.map((item) => ({ [name]: item })),
  );
const merged = (...parts: fc.Arbitrary<object>[]) => fc.tuple(...parts).map((all) => Object.assign({}, ...all) as object);
const just = (fields: object) => fc.constant(fields);

const comparison = fc.oneof(
  fc.record({ exists: fc.boolean() }),
  fc.record({ equals: value }),
  fc.record({ not_equals: value }),
  fc.record({ gt: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ lt: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ in: fc.array(value, { minLength: 1, maxLength: 3 }) }),
);

const leaf = fc.oneof(
  {
    weight: 4,
    arbitrary: merged(
      just({ type: 'tool' }),
      fc.record({ tool: fc.constantFrom('read_file', 'write_file') }),
      optional('input_key', key),
      optional('output_key', key),
    ),
  },
  { weight: 1, arbitrary: merged(just({ type: 'tool', tool: 'read_file', execute: false }), optional('output_key', key)) },
  { weight: 2, arbitrary: merged(just({ type: 'llm' }), fc.record({ prompt: template, output_key: key })) },
  { weight: 2, arbitrary: merged(just({ type: 'agent' }), fc.record({ task: template, output_key: key })) },
  { weight: 2, arbitrary: merged(just({ type: 'condition' }), fc.record({ key }), comparison) },
  { weight: 2, arbitrary: merged(just({ type: 'set' }), fc.record({ key, value: fc.oneof(value, template) })) },
);

const { node } = fc.letrec<{ node: object; many: object[] }>((tie) => ({
  many: fc.array(tie('node'), { minLength: 1, maxLength: 4 }),
  node: fc.oneof(
    { maxDepth: 5, depthSize: 'medium' },
    { weight: 4, arbitrary: leaf },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('sequence'), children: tie('many') }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('selector'), children: tie('many') }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('parallel'), success: fc.constantFrom('all', 'any'), children: tie('many') }) },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('retry'),
        attempts: fc.integer({ min: 1, max: 3 }),
        delay_s: fc.constantFrom(0, 0.01, 0.05),
        child: tie('node'),
      }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('timeout'), ms: fc.integer({ min: 5, max: 60 }), child: tie('node') }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('inverter'), child: tie('node') }) },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('approval'),
        phase: fc.constantFrom('before', 'after', 'both'),
        on_reject: fc.constantFrom('failure', 'success_skip'),
        child: tie('node'),
      }),
    },
  ),
}));

/** Data of a tree with a composite on top, values on its blackboard, and a seed for what the world answers. */
export const treeCase = fc.record({
  root: fc.record({ type: fc.constantFrom('sequence', 'selector', 'parallel'), children: fc.array(node, { minLength: 1, maxLength: 5 }) }),
  blackboard: fc.dictionary(key, value, { maxKeys: 3, noNullPrototype: true }),
  seed: fc.integer(),
});
export type TreeCase = typeof treeCase extends fc.Arbitrary<infer T> ? T : never;
