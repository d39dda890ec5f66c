/** File names for ids: an id may be any printable text, a file name may not. */
import { sha256 } from '../../kernel/node.js';

/** Lower case only: some systems take `A.json` and `a.json` for one file. */
const SAFE = /^[a-z0-9_][a-z0-9._-]{0,119}$/;
/** Device names on Windows, with any extension. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;
const MAX_READABLE = 40;
const HASH_DIGITS = 32;

/** The id if it is safe; otherwise its safe characters and, after a `~` that no safe id has, a hash of the id. */
export function fileNameFor(id: string): string {
  if (SAFE.test(id) && !DEVICES.test(id)) return id;
  const readable = id.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, MAX_READABLE);
  return `${readable}~${sha256(id).slice(0, HASH_DIGITS)}`;
}
