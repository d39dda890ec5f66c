/** Answers as JSON: a long one is written in pieces, with a cooperative yield between them. */
import { Readable } from 'node:stream';
import { nextTurn } from '../kernel/index.js';

/** Characters of a piece, about. */
const PIECE = 256 * 1024;

/** The text of a short answer, or a stream of the pieces of a long one. */
export const jsonAnswer = (value: unknown): string | Readable =>
  roomLeft(value, PIECE) >= 0 ? JSON.stringify(value) : Readable.from(textsOf(value), { objectMode: false });

async function* textsOf(value: unknown): AsyncGenerator<string> {
  let text = '';
  for (const piece of piecesOf(value)) {
    text += piece;
    if (text.length < PIECE) continue;
    yield text;
    text = '';
    await nextTurn();
  }
  yield text;
}

/** The JSON of a value in pieces: a short value whole, a long one member by member. */
function* piecesOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || roomLeft(value, PIECE) >= 0) {
    yield JSON.stringify(value);
    return;
  }
  let separator = '';
  if (Array.isArray(value)) {
    yield '[';
    for (const item of value) {
      yield separator;
      yield* piecesOf(item ?? null);
      separator = ',';
    }
    yield ']';
    return;
  }
  yield '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    yield* piecesOf(member);
    separator = ',';
  }
  yield '}';
}

/** The rest of `room` characters after a value is written, about; stops below zero. */
function roomLeft(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length - 2;
  if (typeof value !== 'object' || value === null) return room - 8;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = roomLeft(value[i], left - 1);
    return left;
  }
  for (const name in value) {
    if (left < 0) return left;
    left = roomLeft((value as Record<string, unknown>)[name], left - name.length - 4);
  }
  return left;
}
