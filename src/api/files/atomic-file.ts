/** Files that are there whole or not at all, and for their owner alone. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Written beside its place, flushed, then renamed: whoever reads sees the old file or the new one, also after a crash. */
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
    // A file that is replaced keeps the mode that somebody gave it.
    const before = await stat(path).catch(() => undefined);
    if (before) await chmod(temporary, before.mode & 0o777);
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  await flushDirectory(directory);
}

/** The rename itself is to last. Windows cannot open a directory, and needs no such thing. */
async function flushDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
