// Everyday memories: [{ id, lang, names, memories: [{ id, text, date? }],
//   questions: [{ id, text, category, gold, stale?, absent, bridge? }] }]
//
// Each entry is a store of its own. hits@k: the first gold memory is among the first k passages; over answerable questions.
// Of updates: `stale first` counts questions that find a former value before the current one, `both unmarked` those whose
// first passages have both without a mark, so that a reader cannot tell which holds.
// AUROC: the confidence of the top passage, of answerable questions against those without an answer.
import { auroc, byCategory, percent, settled } from './figures.mjs';

const LIMIT = 10;
const STEPS = 5;

export const isFormat = ([first]) => Array.isArray(first?.memories);

async function load(cairn, memories) {
  const names = new Map();
  for (const { id, text, date } of memories) {
    const remembered = await cairn.remember(text, date === undefined ? {} : { occurred_at: date });
    names.set(remembered.id, id);
  }
  return names;
}

function measure(passages, found, { gold, stale = [] }) {
  const isMarked = (ids) => passages.some(({ mark }, at) => ids.includes(found[at]) && mark !== undefined);
  const first = found.findIndex((id) => gold.includes(id));
  const at = first < 0 ? Number.POSITIVE_INFINITY : first;
  const old = found.findIndex((id) => stale.includes(id));
  const unmarked = first >= 0 && old >= 0 && !isMarked(gold) && !isMarked(stale);
  return {
    'hits@1': at < 1 ? 1 : 0,
    'hits@3': at < 3 ? 1 : 0,
    'stale first': old >= 0 && old < at ? 1 : 0,
    'both unmarked': unmarked ? 1 : 0,
  };
}

/** How often passages are right, by their confidence. */
function calibrationOf(judged) {
  const bins = new Map();
  for (const { confidence, right } of judged) {
    if (confidence === undefined) continue;
    const bin = Math.min(STEPS - 1, Math.floor(confidence * STEPS));
    const { passages = 0, correct = 0 } = bins.get(bin) ?? {};
    bins.set(bin, { passages: passages + 1, correct: correct + (right ? 1 : 0) });
  }
  return [...bins]
    .sort(([a], [b]) => a - b)
    .map(([bin, { passages, correct }]) => {
      return { confidence: `${bin / STEPS} to ${(bin + 1) / STEPS}`, passages, right: percent(correct, passages) };
    });
}

export async function run({ conversations: stores, open, say }) {
  const measured = [];
  const asked = [];
  const others = [];
  for (const [i, { id, lang, memories, questions }] of stores.entries()) {
    const cairn = await open(`everyday-${i}`);
    try {
      const names = await load(cairn, memories);
      await settled(cairn);
      for (const question of questions) {
        const { passages } = await cairn.recall(question.text, { limit: LIMIT });
        const found = passages.map((passage) => names.get(passage.id));
        const [top] = passages;
        const right = found.length > 0 && question.gold.includes(found[0]);
        asked.push({ absent: question.absent, confidence: top?.confidence ?? top?.score, right, lang });
        for (const [at, { confidence }] of passages.entries())
          if (at > 0) others.push({ confidence, right: question.gold.includes(found[at]) });
        if (!question.absent)
          measured.push({ category: question.category, figures: measure(passages, found, question) });
      }
      say(`asked ${i + 1} of ${stores.length}: ${id}, ${questions.length} questions`);
    } finally {
      await cairn.close();
    }
  }
  const confidences = (absent) => asked.filter((one) => one.absent === absent).map((one) => one.confidence ?? -1);
  const report = byCategory(measured, ['hits@1', 'hits@3']);
  const updates = byCategory(
    measured.filter(({ category }) => category === 'update'),
    ['stale first', 'both unmarked'],
  ).overall;
  const answerable = asked.filter(({ absent }) => !absent);
  const empty = answerable.filter(({ confidence }) => confidence === undefined).length;
  const ofUpdates = {
    'updates: stale first': updates['stale first'],
    'updates: both unmarked': updates['both unmarked'],
  };
  const overall = { ...report.overall, ...ofUpdates, empty, AUROC: auroc(confidences(false), confidences(true)) };
  const calibration = { 'first passage': calibrationOf(asked), 'other passages': calibrationOf(others) };
  return { ...report, overall, calibration };
}
