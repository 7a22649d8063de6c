import { faultsOf, inWords } from '../faults.ts';
import { type Constraints, constraintsSchema } from '../guard/constraints.ts';
import { idleExecution } from '../guard/execution-constraints.ts';
import { isJsonObject, type Json } from '../json.ts';
import { kindOf } from './name.ts';
import type { Notes } from './notes.ts';

const PATH = ['constraints'];

/** A skill's layer of constraints (seed 000, "constraints"; design 5.4). It can only tighten; what it does not know is a problem. */
export function readConstraints(value: Json | undefined, notes: Notes): Constraints {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) {
    notes.problem(PATH, `must be a map, not ${kindOf(value)}`);
    return {};
  }
  const said = Object.entries(value).filter(([key, item]) => {
    if (item === null) notes.warn([...PATH, key], 'is empty, which says nothing');
    return item !== null;
  });
  const parsed = constraintsSchema.safeParse(Object.fromEntries(said), { error: inWords });
  if (parsed.success) {
    for (const { field, why } of idleExecution(parsed.data.execution ?? {})) notes.warn([...PATH, 'execution', field], why);
    return parsed.data;
  }
  for (const { path, message, unknownKey } of faultsOf(parsed.error.issues))
    notes.problem([...PATH, ...path], unknownKey ? 'there is no such constraint; constraints only tighten what holds anyway' : message);
  return {};
}
