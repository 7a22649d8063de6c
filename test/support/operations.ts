import { AsyncLocalStorage } from 'node:async_hooks';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

const inputSchema = z.looseObject({
  TableName: z.string().optional(),
  IndexName: z.string().optional(),
  RequestItems: z.record(z.string(), z.unknown()).optional(),
});

/** Notes which method of which store asked what of which table: `runs.getRun` → `sessions GetItem`, `sessions Query due`. */
export class Operations {
  readonly byMethod = new Map<string, Set<string>>();
  readonly #method = new AsyncLocalStorage<string>();

  watch(client: DynamoDBDocumentClient): void {
    client.middlewareStack.add(
      (next, context) => (args) => {
        const { TableName, IndexName, RequestItems = {} } = inputSchema.parse(args.input);
        const action = String(context['commandName']).replace(/Command$/, '');
        const operation = IndexName === undefined ? (ACTIONS[action] ?? action) : `Query ${IndexName}`;
        for (const table of TableName === undefined ? Object.keys(RequestItems) : [TableName]) this.#note(`${table} ${operation}`);
        return next(args);
      },
      { step: 'initialize', name: 'testOperations' },
    );
  }

  /** `store`, whose methods are known by `name`. */
  of<Store extends object>(name: string, store: Store): Store {
    return new Proxy(store, {
      get: (target, method) => {
        const value: unknown = Reflect.get(target, method);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => this.#method.run(`${name}.${String(method)}`, () => Reflect.apply(value, target, args));
      },
    });
  }

  #note(operation: string): void {
    const method = this.#method.getStore();
    if (method !== undefined) this.byMethod.set(method, (this.byMethod.get(method) ?? new Set()).add(operation));
  }
}

/** The document client's names of commands, as IAM spells the actions. */
const ACTIONS: Readonly<Record<string, string>> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  BatchGet: 'BatchGetItem',
  BatchWrite: 'BatchWriteItem',
};
