import type { ApprovalRequest, ApprovalResult } from './manager.ts';

/**
 * Where the ApprovalManager's requests wait (seed 003, ApprovalStoreProtocol): put → get → resolve → get result → ack →
 * prune. A result is kept until it has been pruned, so that none is lost and none is obeyed twice.
 */
export interface ApprovalStore {
  /** Keeps a request that waits; the same id again changes nothing. */
  putRequest(request: ApprovalRequest): Promise<void>;
  /** Whether decided or not, until it is acked. */
  getRequest(requestId: string): Promise<ApprovalRequest | undefined>;
  /** False when there is no such request, or it has been decided. */
  resolveRequest(requestId: string, result: ApprovalResult): Promise<boolean>;
  /** Undefined while nobody has decided, and once the result has been acked. */
  getResult(requestId: string): Promise<ApprovalResult | undefined>;
  /** Whoever asked has taken the result. */
  ackResult(requestId: string): Promise<void>;
  /** Forgets a request whose result was acked; call it when what followed from it is safely stored. */
  pruneResult(requestId: string): Promise<void>;
  /** Called after each decision. The function it returns ends that. */
  subscribe(listener: (request: ApprovalRequest, result: ApprovalResult) => void): () => void;
}

interface Entry {
  readonly request: ApprovalRequest;
  readonly result?: ApprovalResult;
  readonly acked: boolean;
}

/** For one process: what waits is gone with it. */
export function inMemoryApprovalStore(): ApprovalStore {
  const entries = new Map<string, Entry>();
  const listeners = new Set<(request: ApprovalRequest, result: ApprovalResult) => void>();
  const open = (requestId: string): Entry | undefined => {
    const entry = entries.get(requestId);
    return entry?.acked ? undefined : entry;
  };
  return {
    async putRequest(request) {
      if (!open(request.requestId)) entries.set(request.requestId, { request, acked: false });
    },
    getRequest: async (requestId) => open(requestId)?.request,
    async resolveRequest(requestId, result) {
      const entry = open(requestId);
      if (!entry || entry.result) return false;
      entries.set(requestId, { ...entry, result });
      for (const listener of listeners) listener(entry.request, result);
      return true;
    },
    getResult: async (requestId) => open(requestId)?.result,
    async ackResult(requestId) {
      const entry = open(requestId);
      if (entry?.result) entries.set(requestId, { ...entry, acked: true });
    },
    async pruneResult(requestId) {
      if (entries.get(requestId)?.acked) entries.delete(requestId);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
