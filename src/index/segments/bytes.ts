/** Reads and writes the bytes of segments: variable-length numbers, and codes of 40 bits. */

export class ByteWriter {
  #bytes: Uint8Array;
  length = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** The written bytes, valid until the next write. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.length++] = value;
  }

  /** Seven bits a byte, the lowest first. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 128) {
      this.#bytes[this.length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.length++] = rest;
  }

  /** Four bytes: a number that is changed in place keeps its size. */
  uint32(value: number): void {
    this.#reserve(4);
    for (const shift of [24, 16, 8, 0]) this.#bytes[this.length++] = (value >>> shift) & 255;
  }

  /** Five bytes. */
  code(value: number): void {
    this.byte(Math.floor(value / 2 ** 32));
    this.uint32(value % 2 ** 32);
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  #reserve(size: number): void {
    if (this.length + size <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.length + size, 2 * this.#bytes.length));
    larger.set(this.written);
    this.#bytes = larger;
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  byte(): number {
    return this.#bytes[this.at++]!;
  }

  varint(): number {
    let byte = this.#bytes[this.at++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let scale = 128; ; scale *= 128) {
      byte = this.#bytes[this.at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  uint32(): number {
    return this.byte() * 2 ** 24 + ((this.byte() << 16) | (this.byte() << 8) | this.byte());
  }

  code(): number {
    return this.byte() * 2 ** 32 + this.uint32();
  }
}
