/** Canonical JSON and its hash: the bytes that are stored, compared and hashed. */
import { createHmac, hash } from 'node:crypto';
import { configure } from 'safe-stable-stringify';
import type { Json } from './json/json.js';

const stringify = configure({ circularValue: Error });

/** Members sorted by name, no white space: equal values give equal text. */
export const canonical = (value: Json | undefined): string => stringify(value) ?? 'null';

export const sha256 = (text: string): string => hash('sha256', text, 'hex');

/** Confirms no guess without the key. */
export const keyedSha256 = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex');
