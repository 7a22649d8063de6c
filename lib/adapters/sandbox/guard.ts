import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

/**
 * Loaded before a child's code: closes what Node's permission model leaves open in this version, network and signals.
 * A second layer only. The wall is the interpreter, which has no bridge to this JavaScript; this is for the day it leaks.
 */
function refuse(): never {
  throw Object.assign(new Error('not available in the sandbox'), { code: 'ERR_ACCESS_DENIED' });
}

/** Configurable, since just-bash puts its own refusals over some of these; nothing leads back to what was there. */
function close(holder: object, name: PropertyKey): void {
  Object.defineProperty(holder, name, { value: refuse, writable: false, configurable: true });
}

// http, https, http2, tls and undici all connect and listen through these.
close(net.Socket.prototype, 'connect');
close(net.Server.prototype, 'listen');
for (const name of ['connect', 'createConnection', 'createServer'] as const) close(net, name);
for (const name of ['bind', 'connect', 'send', 'sendto'] as const) close(dgram.Socket.prototype, name);
close(dgram, 'createSocket');
// A name looked up is a message sent.
for (const holder of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
  for (const name of Object.getOwnPropertyNames(holder)) {
    if (/^(lookup|resolve|reverse)/.test(name)) close(holder, name);
  }
}
/** Deleted first: to define over a lazy global is to read it, and reading any of these loads the whole web client. */
export function closeGlobals(names: readonly string[]): void {
  for (const name of names) {
    Reflect.deleteProperty(globalThis, name);
    close(globalThis, name);
  }
}
closeGlobals(['fetch', 'WebSocket', 'EventSource']);
// `_kill` is what `kill` calls; with either, a child could end its parent.
for (const name of ['kill', '_kill', '_debugProcess', 'binding', 'dlopen', '_linkedBinding', 'setuid', 'setgid']) close(process, name);
syncBuiltinESMExports();
