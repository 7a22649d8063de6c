import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { HandrailError } from '../../core/errors.ts';

/** What `decoders` undoes. */
export const ACCEPT_ENCODING = 'gzip, br, zstd';
/** Nobody compresses more often for a good reason. */
const MAX_ENCODINGS = 3;
/** The window that decoders have to support, and HTTP may use at most: 8 MB (RFC 9659). More is an attack on memory. */
const ZSTD_WINDOW_LOG = 23;

/**
 * Streams that undo a `content-encoding`, in the order to apply them. What ends early is read as far as it goes: whether the
 * body came whole is for HTTP to say. INVALID_OUTPUT for an encoding that was not asked for, or too many of them.
 */
export function decoders(contentEncoding: string | undefined): Transform[] {
  const names = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MAX_ENCODINGS)
    throw new HandrailError(
      'INVALID_OUTPUT',
      `The response is compressed ${names.length} times over; at most ${MAX_ENCODINGS} are undone.`,
    );
  return names.reverse().map(decoder);
}

function decoder(name: string): Transform {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH });
    case 'br':
      return createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH });
    case 'zstd':
      return createZstdDecompress({
        flush: constants.ZSTD_e_continue,
        finishFlush: constants.ZSTD_e_flush,
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
      });
    default:
      throw new HandrailError('INVALID_OUTPUT', `The response is compressed in a way that was not asked for (${name.slice(0, 20)}).`);
  }
}
