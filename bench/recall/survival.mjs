// Closed conversations: [{ id, language, turns: [{ role, content, speaker? }],
//   facts: [{ id, text, turns, must, question, category }], stale: [{ text, must, replaced_by }], junk: [{ text, must, kind }] }]
//
// Each dialogue is a scope in a store of its own, closed with the default settings. A fact survives in a text if every set
// of `must` has a string that occurs in it; the text is all notes and artifacts. A fact is answered if one of the first five
// passages of `recall` for its question has it. A stale value is unmarked if a line has it, and neither that line nor its
// memory says that it was replaced.
import { percent, round, settled } from './figures.mjs';

const SHOWN = 5;
const PAGE = 100;
const MARK =
  /\b(?:before|previous(?:ly)?|former(?:ly)?|replace[ds]?|supersede[ds]?|no longer|not any ?more|instead of|rather than|changed? (?:from|to)|used to|outdated|was:|until|avant|remplacée?s?|au lieu|plutôt que|ancien(?:ne)?(?:ment)?)\b/i;

export const isFormat = ([first]) => Array.isArray(first?.facts);

const plain = (text) => text.toLowerCase().replace(/\s+/g, ' ');
const wordsIn = (text) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
const occurs = (must, text) => must.every((some) => some.some((one) => text.includes(plain(one))));

const asText = (content) => (typeof content === 'string' ? content : JSON.stringify(content));

async function all(list, name) {
  const found = [];
  for (let cursor; ; ) {
    const page = await list({ limit: PAGE, ...(cursor ? { cursor } : {}) });
    found.push(...page[name]);
    if (!page.next_cursor) return found;
    cursor = page.next_cursor;
  }
}

/** The memories that a closed dialogue leaves. */
async function leftBy(cairn, turns) {
  const { trajectory_id } = await cairn.trajectories.create({ name: 'survival' });
  const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'dialogue', token_budget: 1_000_000 });
  for (const { role, content, speaker } of turns)
    await cairn.turns.add({ scope_id, role, content, ...(speaker === undefined ? {} : { metadata: { speaker } }) });
  await cairn.scopes.close({ scope_id, wait: true });
  const notes = await all((page) => cairn.notes.list(page), 'notes');
  const artifacts = await all((page) => cairn.artifacts.list(page), 'artifacts');
  return [
    ...notes.map(({ title, content }) => ({ title, text: asText(content) })),
    ...artifacts.map(({ name, content }) => ({ title: name, text: asText(content) })),
  ];
}

/** Whether a stale value is kept in a line without a mark, or with its replacement. */
function isUnmarked({ must, replaced_by }, memories, facts) {
  const newer = facts.find(({ id }) => id === replaced_by)?.must;
  return memories.some(({ title, text }) => {
    const lines = `${title}\n${text}`.split(/\n+|(?<=[.!?])\s+/).map(plain);
    const having = lines.filter((line) => occurs(must, line));
    return having.some((line) => !MARK.test(line) && !(newer && occurs(newer, line)));
  });
}

async function isAnswered(cairn, { must, question }) {
  const { passages } = await cairn.recall(question, { limit: SHOWN });
  return passages.some(({ name, text }) => occurs(must, plain(`${name ?? ''}\n${text}`)));
}

async function measure(cairn, { turns, facts, stale, junk }) {
  const memories = await leftBy(cairn, turns);
  await settled(cairn);
  const whole = memories.map(({ title, text }) => `${title}\n${text}`).join('\n');
  const text = plain(whole);
  let answered = 0;
  for (const fact of facts) if (await isAnswered(cairn, fact)) answered++;
  return {
    facts: facts.length,
    survive: facts.filter(({ must }) => occurs(must, text)).length,
    answered,
    said: turns.reduce((sum, { content }) => sum + wordsIn(content), 0),
    kept: wordsIn(whole),
    junk: junk.length,
    junk_kept: junk.filter(({ must }) => occurs(must, text)).length,
    stale: stale.length,
    stale_unmarked: stale.filter((one) => isUnmarked(one, memories, facts)).length,
  };
}

function figuresOf(some) {
  const sum = (name) => some.reduce((total, one) => total + one[name], 0);
  return {
    survive: percent(sum('survive'), sum('facts')),
    'answered@5': percent(sum('answered'), sum('facts')),
    words: percent(sum('kept'), sum('said')),
    junk: percent(sum('junk_kept'), sum('junk')),
    'stale unmarked': percent(sum('stale_unmarked'), sum('stale')),
    facts: round(sum('facts')),
  };
}

export async function run({ conversations: dialogues, open, say }) {
  const measured = [];
  for (const [i, dialogue] of dialogues.entries()) {
    const cairn = await open(`survival-${i}`);
    try {
      measured.push({ id: dialogue.id, counts: await measure(cairn, dialogue) });
    } finally {
      await cairn.close();
    }
    say(`closed ${i + 1} of ${dialogues.length}: ${dialogue.turns.length} turns`);
  }
  return {
    overall: figuresOf(measured.map(({ counts }) => counts)),
    categories: Object.fromEntries(measured.map(({ id, counts }) => [id, figuresOf([counts])])),
  };
}
