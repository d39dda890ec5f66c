// Everyday memories: [{ id, lang, names, memories: [{ id, text, date? }],
//   questions: [{ id, text, category, gold, stale?, absent, bridge? }] }]
//
// Each entry is a store of its own. hits@k: the first gold memory is among the first k passages; over answerable questions.
// AUROC: the confidence of the top passage, of answerable questions against those without an answer.
import { auroc, byCategory, percent, settled } from './figures.mjs';

const LIMIT = 10;
const STEPS = 10;

export const isFormat = ([first]) => Array.isArray(first?.memories);

async function load(cairn, memories) {
  const names = new Map();
  for (const { id, text, date } of memories) {
    const remembered = await cairn.remember(text, date === undefined ? {} : { occurred_at: date });
    names.set(remembered.id, id);
  }
  return names;
}

function measure(found, { gold, stale = [] }) {
  const first = found.findIndex((id) => gold.includes(id));
  const at = first < 0 ? Number.POSITIVE_INFINITY : first;
  const old = found.findIndex((id) => stale.includes(id));
  return { 'hits@1': at < 1 ? 1 : 0, 'hits@3': at < 3 ? 1 : 0, 'stale first': old >= 0 && old < at ? 1 : 0 };
}

/** How often the top passage is right, by its confidence. */
function calibrationOf(asked) {
  const bins = new Map();
  for (const { confidence, right } of asked) {
    if (confidence === undefined) continue;
    const bin = Math.min(STEPS - 1, Math.floor(confidence * STEPS));
    const { questions = 0, correct = 0 } = bins.get(bin) ?? {};
    bins.set(bin, { questions: questions + 1, correct: correct + (right ? 1 : 0) });
  }
  return [...bins]
    .sort(([a], [b]) => a - b)
    .map(([bin, { questions, correct }]) => {
      return { confidence: `${bin / STEPS} to ${(bin + 1) / STEPS}`, questions, right: percent(correct, questions) };
    });
}

export async function run({ conversations: stores, open, say }) {
  const measured = [];
  const asked = [];
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
        if (!question.absent) measured.push({ category: question.category, figures: measure(found, question) });
      }
      say(`asked ${i + 1} of ${stores.length}: ${id}, ${questions.length} questions`);
    } finally {
      await cairn.close();
    }
  }
  const confidences = (absent) => asked.filter((one) => one.absent === absent).map((one) => one.confidence ?? -1);
  const report = byCategory(measured, ['hits@1', 'hits@3', 'stale first']);
  const answerable = asked.filter(({ absent }) => !absent);
  const empty = answerable.filter(({ confidence }) => confidence === undefined).length;
  const overall = { ...report.overall, empty, AUROC: auroc(confidences(false), confidences(true)) };
  return { ...report, overall, calibration: calibrationOf(asked) };
}
