/** Keeps the beginning and the end of a stream of bytes, and counts what lies between. Errors tend to come last. */
export class OutputCut {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail = Buffer.alloc(0);
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
    if (rest.length >= this.#tailLimit) this.#tail = Buffer.from(rest.subarray(rest.length - this.#tailLimit));
    else if (rest.length > 0) this.#tail = Buffer.concat([this.#tail, rest]).subarray(-this.#tailLimit);
  }

  /** As text; bytes that are not UTF-8 become U+FFFD. */
  text(): string {
    const left = this.total - this.#headBytes - this.#tail.length;
    const head = Buffer.concat(this.#head);
    if (left === 0) return Buffer.concat([head, this.#tail]).toString();
    return `${wholeCharacters(head).toString()}\n[… ${left} bytes of output left out …]\n${fromCharacter(this.#tail).toString()}`;
  }

  /** The last `bytes` of what was written, as text. */
  end(bytes: number): string {
    return fromCharacter(Buffer.concat([...this.#head, this.#tail]).subarray(-bytes)).toString();
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
