import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Gate } from './memory-state.ts';

/** One world with actors that each pass a gate before every operation, and what must hold when all have stopped. */
export interface World {
  readonly actors: readonly ((gate: Gate) => Promise<unknown>)[];
  /** `dead`: indices of actors that were stopped at an operation and never went on. */
  check(dead: readonly number[]): Promise<void>;
}

interface Options {
  /** How many actors may die at an operation. */
  readonly deaths?: number;
  /** Gives up after this many orders; the test should then say so. */
  readonly most?: number;
}

/**
 * Runs the world once for every order in which the actors' operations can happen (and, with `deaths`, every operation at
 * which one can die). Returns how many orders there were. Failures name the order.
 */
export async function everyInterleaving(makeWorld: () => Promise<World>, { deaths = 0, most = 200_000 }: Options = {}): Promise<number> {
  let orders = 0;
  let prefix: number[] | undefined = [];
  while (prefix) {
    if (++orders > most) throw new Error(`more than ${most} orders`);
    const taken = await runOnce(await makeWorld(), deaths, prefixed(prefix));
    prefix = nextPrefix(taken);
  }
  return orders;
}

/** Runs the world once, in an order drawn from `draw` (0 ≤ x < 1). */
export async function someInterleaving(world: World, deaths: number, draw: () => number): Promise<void> {
  await runOnce(world, deaths, (choices) => Math.floor(draw() * choices));
}

interface Choice {
  readonly taken: number;
  readonly of: number;
}

async function runOnce(world: World, deaths: number, choose: (choices: number, place: number) => number): Promise<Choice[]> {
  const waiting = new Map<number, { operation: string; pass: () => void }>();
  const dead: number[] = [];
  const finished = new Set<number>();
  const errors: unknown[] = [];
  const story: string[] = [];
  world.actors.forEach((actor, index) => {
    const gate: Gate = (operation) => new Promise((pass) => waiting.set(index, { operation, pass }));
    actor(gate)
      .catch((error: unknown) => errors.push(error))
      .finally(() => finished.add(index));
  });
  const choices: Choice[] = [];
  /** Until the actor stands at a gate again or has finished; only one of them is ever on its way. */
  const settled = async (actor: number): Promise<void> => {
    for (let tick = 0; !waiting.has(actor) && !finished.has(actor); tick++) await (tick < 100 ? undefined : nextTurn());
  };
  for (const actor of world.actors.keys()) await settled(actor);
  while (waiting.size > 0) {
    const ready = [...waiting.keys()].sort((a, b) => a - b);
    const mayDie = dead.length < deaths;
    const of = ready.length * (mayDie ? 2 : 1);
    const taken = Math.min(choose(of, choices.length), of - 1);
    choices.push({ taken, of });
    const actor = ready[taken % ready.length] ?? 0;
    const turn = waiting.get(actor);
    waiting.delete(actor);
    const dies = taken >= ready.length;
    story.push(`${actor}${dies ? ' dies before ' : ':'}${turn?.operation}`);
    if (dies) dead.push(actor);
    else {
      turn?.pass();
      await settled(actor);
    }
  }
  try {
    if (errors.length > 0) throw errors[0];
    await world.check(dead);
  } catch (error) {
    throw new Error(`in the order ${story.join(', ')}`, { cause: error });
  }
  return choices;
}

const prefixed =
  (prefix: readonly number[]) =>
  (_choices: number, place: number): number =>
    prefix[place] ?? 0;

/** The next order depth first: the last choice that has another option takes it. */
function nextPrefix(choices: readonly Choice[]): number[] | undefined {
  const last = choices.findLastIndex(({ taken, of }) => taken + 1 < of);
  if (last < 0) return undefined;
  return choices.slice(0, last + 1).map(({ taken }, place) => (place === last ? taken + 1 : taken));
}
