import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector as undiciConnector } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import type { Resolve } from './destination.ts';

/** Opens the connection for a request. */
export type Connector = undiciConnector.connector;
/** A connector that reaches the given addresses of a host and no others. */
export type ConnectTo = (addresses: readonly string[]) => Connector;

/** A host that does not answer must leave time for its next address. */
const CONNECT_MS = 8_000;

/**
 * Names are asked once, before the check; the connection only ever sees what was checked, so that a second answer (DNS
 * rebinding) is never heard. An address as host is not looked up at all: it is what was checked.
 */
export const connectPinned: ConnectTo = (addresses) =>
  buildConnector({
    lookup: pinned(addresses),
    autoSelectFamily: true,
    timeout: CONNECT_MS,
    allowH2: false,
    maxCachedSessions: 0,
  });

/** Connects wherever names lead: for addresses that the operator configured. */
export const connectAnywhere: Connector = buildConnector({ timeout: CONNECT_MS, allowH2: false, maxCachedSessions: 0 });

function pinned(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all }, callback) => {
    const [first] = entries;
    if (first === undefined) callback(new Error('no address'), '', 4);
    else if (all) callback(null, entries);
    else callback(null, first.address, first.family);
  };
}

/** The resolver of the operating system. */
export const systemResolve: Resolve = async (host) => {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTFOUND') return [];
    throw error;
  }
};
