/** Texts that a caller carries but cannot read or forge: encrypted with a key of the store and tenant. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

const keyOf = (secret: string, tenant: string): Buffer =>
  createHmac('sha256', secret).update(`sealed text\n${tenant}`).digest();

export function seal(secret: string, tenant: string, text: string): string {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv(CIPHER, keyOf(secret, tenant), nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Undefined if the text was not sealed with this key. */
export function unseal(secret: string, tenant: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  const start = NONCE_LENGTH + TAG_LENGTH;
  if (bytes.length < start) return undefined;
  const decipher = createDecipheriv(CIPHER, keyOf(secret, tenant), bytes.subarray(0, NONCE_LENGTH));
  decipher.setAuthTag(bytes.subarray(NONCE_LENGTH, start));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
