// What is written: cards to refer to, and packets as agents send them.
import { prose, seeded, uuids } from './seeded.mjs';

/** Adds cards in bulk: they are there before anything is measured. */
export async function addCards({ api }, ids) {
  for (let i = 0; i < ids.length; i += 1000) {
    const cards = ids.slice(i, i + 1000).map((card_id) => ({ card_id, content: 'a card to refer to' }));
    await api.cards.add_batch({ cards, atomic: true });
  }
}

/** A packet as an agent writes it: about 700 bytes, in a thread, with two tags. */
export function packetBodies(seed) {
  const next = seeded(seed);
  const newId = uuids(seed);
  const threads = Array.from({ length: 50 }, newId);
  return () => ({
    packet_type: 'memory_write',
    payload: { action: 'observe', content: prose(next, 300), step: next() % 1000, done: false },
    metadata: { agent: `agent-${next() % 10}`, reasoning_mode: 'fast', domain: 'procurement' },
    provenance: { source: 'bench', tool: 'search' },
    confidence: { score: 0.9, rationale: prose(next, 60) },
    thread_id: threads[next() % threads.length],
    tags: [`topic-${next() % 20}`, 'search'],
  });
}
