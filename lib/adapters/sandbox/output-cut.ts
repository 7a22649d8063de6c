/** Keeps the beginning and the end of a stream of bytes, and counts what lies between. Errors tend to come last. */
export class OutputCut {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  readonly #tail: Buffer[] = [];
  #tailBytes = 0;
  total = 0;

  /** `limit` in bytes of kept output. */
  constructor(limit: number) {
    this.#headLimit = Math.ceil(limit * 0.6);
    this.#tailLimit = limit - this.#headLimit;
  }

  push(chunk: Buffer): void {
    this.total += chunk.length;
    const first = chunk.subarray(0, this.#headLimit - this.#headBytes);
    if (first.length > 0) {
      this.#head.push(first);
      this.#headBytes += first.length;
    }
    const rest = chunk.subarray(first.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    while (this.#tail[0] !== undefined && this.#tailBytes - this.#tail[0].length >= this.#tailLimit)
      this.#tailBytes -= this.#tail.shift()?.length ?? 0;
  }

  get #end(): Buffer {
    const tail = Buffer.concat(this.#tail);
    return tail.subarray(Math.max(0, tail.length - this.#tailLimit));
  }

  /** As text; bytes that are not UTF-8 become U+FFFD. */
  text(): string {
    const tail = this.#end;
    const left = this.total - this.#headBytes - tail.length;
    const head = Buffer.concat(this.#head);
    if (left === 0) return Buffer.concat([head, tail]).toString();
    return `${wholeCharacters(head).toString()}\n[… ${left} bytes of output left out …]\n${fromCharacter(tail).toString()}`;
  }

  /** The last `bytes` of what was written, as text. */
  end(bytes: number): string {
    return fromCharacter(Buffer.concat([...this.#head, this.#end]).subarray(-bytes)).toString();
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Without a character that the cut has halved at the end (at most 3 bytes of it). */
function wholeCharacters(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + size > bytes.length ? bytes.subarray(0, start) : bytes;
}

function fromCharacter(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return bytes.subarray(start);
}
