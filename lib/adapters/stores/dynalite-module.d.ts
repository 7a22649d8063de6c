declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** The database server, not listening yet. Its `close` also closes the database. */
  export default function dynalite(options?: { path?: string; createTableMs?: number; maxItemSizeKb?: number }): Server;
}
