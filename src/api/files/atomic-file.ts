/** Atomic writes of files that only their owner can read. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes a temporary file, flushes and renames it: a reader sees the old file or the new one, even after a crash. */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = join(directory, `.${randomUUID()}.tmp`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    // A replaced file keeps its mode.
    const before = await stat(path).catch(() => undefined);
    if (before) await chmod(temporary, before.mode & 0o777);
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  await flushDirectory(directory);
}

/** Makes the rename durable. Windows cannot open a directory and does not need it. */
async function flushDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
