/** Something that every search finds, for the generated tests. */
import type { Api } from '#cairn/api/index.js';

/** They ask for what everything of this tenant says. */
export async function plantMemory(cairn: Api, secret: string): Promise<Record<string, unknown>> {
  await cairn.memory.remember({ text: secret, tags: [secret], speaker: secret });
  await cairn.memory.remember({ text: secret, as: 'turn' });
  const asked = { query: secret };
  return { 'search.query': asked, 'notes.search': asked, 'artifacts.search': asked, 'memory.recall': asked };
}
