/**
 * Evaluated in QuickJS before the script: the few things of Node that scripts reach for, made from the host functions
 * of child-quickjs.ts, which are all the bridge there is and take and give only strings, numbers and bytes. Its value
 * is `{ show, wait, fire }`, which the host drives timers and error messages with.
 */
export const PRELUDE = `
(() => {
  const host = globalThis.__host;
  delete globalThis.__host;
  const show = (value, depth = 0, seen = []) => {
    if (typeof value === 'string') return depth === 0 ? value : JSON.stringify(value);
    if (typeof value === 'bigint') return value + 'n';
    if (typeof value === 'function') return '[Function: ' + (value.name || 'anonymous') + ']';
    if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
    if (value instanceof Error) return value.name + ': ' + value.message + (value.stack ? '\\n' + String(value.stack).trimEnd() : '');
    if (seen.includes(value)) return '[Circular]';
    if (depth > 4) return Array.isArray(value) ? '[Array]' : '[Object]';
    const inner = (item) => show(item, depth + 1, [...seen, value]);
    if (value instanceof Date) return isNaN(value) ? 'Invalid Date' : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (value instanceof Promise) return '[Promise]';
    if (value instanceof Map) return 'Map(' + value.size + ') {' + [...value].map(([k, v]) => ' ' + inner(k) + ' => ' + inner(v)).join(',') + ' }';
    if (value instanceof Set) return 'Set(' + value.size + ') {' + [...value].map((v) => ' ' + inner(v)).join(',') + ' }';
    if (Array.isArray(value) || ArrayBuffer.isView(value)) {
      const items = Array.from(value).slice(0, 1000).map(inner);
      if (value.length > 1000) items.push('... ' + (value.length - 1000) + ' more items');
      return items.length === 0 ? '[]' : '[ ' + items.join(', ') + ' ]';
    }
    const entries = Object.entries(value).map(([k, v]) => (/^[A-Za-z_$][\\w$]*$/.test(k) ? k : JSON.stringify(k)) + ': ' + inner(v));
    const name = value.constructor && value.constructor !== Object ? value.constructor.name + ' ' : '';
    return name + (entries.length === 0 ? '{}' : '{ ' + entries.join(', ') + ' }');
  };
  const print = (descriptor) => (...values) => host.write(descriptor, values.map((value) => show(value)).join(' ') + '\\n');
  globalThis.console = { log: print(1), info: print(1), debug: print(1), error: print(2), warn: print(2), trace: print(2), table: print(1) };

  const encodingOf = (options) => (typeof options === 'string' ? options : options && options.encoding);
  const bytesOf = (data) => (ArrayBuffer.isView(data) ? data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) : data);
  const put = (path, data, append) => {
    if (typeof data === 'string') return host.writeText(String(path), data, append);
    const bytes = bytesOf(data);
    if (!(bytes instanceof ArrayBuffer)) throw new TypeError('data must be a string, a typed array or an ArrayBuffer');
    return host.writeBytes(String(path), bytes, append);
  };
  const stat = (path) => {
    const [kind, size, mtimeMs] = JSON.parse(host.stat(String(path)));
    if (kind === '') throw Object.assign(new Error('ENOENT: no such file or directory: ' + path), { code: 'ENOENT' });
    return { size, mtimeMs, mtime: new Date(mtimeMs), isFile: () => kind === 'file', isDirectory: () => kind === 'directory', isSymbolicLink: () => false };
  };
  const sync = {
    readFileSync: (path, options) => (encodingOf(options) ? host.readText(String(path)) : new Uint8Array(host.readBytes(String(path)))),
    writeFileSync: (path, data, options) => put(path, data, Boolean(options && options.flag === 'a')),
    appendFileSync: (path, data) => put(path, data, true),
    existsSync: (path) => JSON.parse(host.stat(String(path)))[0] !== '',
    statSync: stat,
    lstatSync: stat,
    accessSync: (path) => void stat(path),
    readdirSync: (path = '.', options) => {
      const names = JSON.parse(host.list(String(path)));
      return options && options.withFileTypes ? names.map((name) => ({ ...stat(path + '/' + name), name })) : names;
    },
    mkdirSync: (path, options) => host.makeDirectory(String(path), Boolean(options && options.recursive)),
    rmSync: (path, options) => {
      if (options && options.force && !sync.existsSync(path)) return;
      host.remove(String(path), Boolean(options && options.recursive));
    },
    rmdirSync: (path) => host.remove(String(path), false),
    unlinkSync: (path) => host.remove(String(path), false),
    renameSync: (from, to) => host.rename(String(from), String(to)),
    copyFileSync: (from, to) => host.writeBytes(String(to), host.readBytes(String(from)), false),
  };
  const promises = Object.fromEntries(Object.entries(sync).map(([name, work]) => [name.replace(/Sync$/, ''), async (...args) => work(...args)]));
  const fs = { ...sync, promises };
  const path = {
    sep: '/',
    normalize: (text) => path.join(text),
    join: (...parts) => {
      const text = parts.filter(Boolean).join('/');
      const kept = [];
      for (const part of text.split('/')) {
        if (part === '' || part === '.') continue;
        if (part === '..' && kept.length > 0 && kept.at(-1) !== '..') kept.pop();
        else if (part !== '..' || !text.startsWith('/')) kept.push(part);
      }
      return (text.startsWith('/') ? '/' : '') + kept.join('/') || '.';
    },
    resolve: (...parts) => parts.reduce((base, part) => (part.startsWith('/') ? path.join(part) : path.join(base, part)), '/workspace'),
    basename: (text, end = '') => { const name = text.replace(/\\/+$/, '').split('/').at(-1); return end && name.endsWith(end) ? name.slice(0, -end.length) : name; },
    dirname: (text) => { const at = text.replace(/\\/+$/, '').lastIndexOf('/'); return at < 0 ? '.' : text.slice(0, at) || '/'; },
    extname: (text) => { const name = path.basename(text); const at = name.lastIndexOf('.'); return at <= 0 ? '' : name.slice(at); },
    isAbsolute: (text) => text.startsWith('/'),
  };
  const modules = { fs, 'fs/promises': promises, path };
  globalThis.require = (name) => {
    const found = modules[String(name).replace(/^node:/, '')];
    if (!found) throw new Error("Cannot find module '" + name + "': only fs, fs/promises and path exist here; nothing can be installed");
    return found;
  };
  globalThis.process = {
    argv: ['node', 'script.js'], env: {}, platform: 'linux', cwd: () => '/workspace', exit: (code = 0) => {
      host.exit(Number(code) || 0);
      for (;;);
    },
    stdout: { write: (text) => (host.write(1, String(text)), true) }, stderr: { write: (text) => (host.write(2, String(text)), true) },
    hrtime: { bigint: () => BigInt(Math.round(host.now() * 1e6)) },
  };
  globalThis.performance = { now: () => host.now() };

  const timers = [];
  let last = 0;
  const add = (callback, delay, args, every) => {
    const timer = { id: ++last, at: host.now() + Math.max(1, Number(delay) || 0), run: () => callback(...args), every };
    timers.push(timer);
    return timer.id;
  };
  globalThis.setTimeout = (callback, delay, ...args) => add(callback, delay, args);
  globalThis.setInterval = (callback, delay, ...args) => add(callback, delay, args, Math.max(1, Number(delay) || 0));
  globalThis.setImmediate = (callback, ...args) => add(callback, 0, args);
  globalThis.clearTimeout = globalThis.clearInterval = globalThis.clearImmediate = (id) => {
    const at = timers.findIndex((timer) => timer.id === id);
    if (at >= 0) timers.splice(at, 1);
  };
  globalThis.queueMicrotask = (callback) => void Promise.resolve().then(callback);
  return {
    show,
    /** ms until the next timer; -1 = there is none. */
    wait: () => (timers.length === 0 ? -1 : Math.max(0, Math.min(...timers.map((timer) => timer.at)) - host.now())),
    fire: () => {
      const now = host.now();
      const due = timers.filter((timer) => timer.at <= now).sort((a, b) => a.at - b.at || a.id - b.id);
      for (const timer of due) {
        const at = timers.indexOf(timer);
        if (at < 0) continue;
        if (timer.every === undefined) timers.splice(at, 1);
        else timer.at = now + timer.every;
        timer.run();
      }
    },
  };
})()
`;
