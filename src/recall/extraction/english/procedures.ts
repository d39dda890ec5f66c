/** Extraction rules: procedures, as a list of steps or in one sentence. */
import { type Block, blocksOf } from '../../../text/index.js';
import type { TextSource } from '../../summaries/sources.js';
import type { ExtractedFact } from '../extractor.js';
import { keyOf, sentenceOf } from './drafts.js';
import { EVALUATIVE, plainSentence, standsAlone } from './sentences.js';

const MIN_STEPS = 3;
const MAX_STEPS = 30;
const MAX_STEP_LENGTH = 400;

/** The introduction of a list of steps, up to the colon. */
const LEAD =
  /(?:^|[.!] )(?:(?:here(?:'s| is) )?(?:how (?:to|we|i)|(?:the )?steps? (?:to|for)|(?:the )?(?:procedure|process|checklist|recipe|runbook) (?:to|for))|(?:in order )?to|(?:our|the) (?:[\w-]+ ){0,3}(?:procedure|process|checklist|recipe|runbook|routine)) ?([^.!?:]{3,100}?)(?: (?:is|are|goes|works))?(?: (?:as follows|like this|these steps|the following))?\s*[:：]\s*$/i;
const ONE_LINE =
  /^to ((?:deploy|build|release|run|start|stop|restart|reset|install|update|upgrade|migrate|test|debug|rotate|restore|back up|publish|log in|connect|set up|configure|regenerate|reindex|clear|open|enable|disable|roll back|rebuild|seed|print|export|import) [^,]{2,60}), (?:first |just |simply )?((?:run|use|call|execute|type|press|set|open|click|delete|edit|export|push|merge|restart|ssh|go to|start|stop|send|add|create) .+)$/i;

/** Only of people: an assistant lists steps for everything. Yields after each block, so that the caller can give way. */
export function* proceduresOf(source: TextSource): Generator<ExtractedFact | undefined> {
  let lead: string | undefined;
  let steps: string[] = [];
  const finished = (): ExtractedFact | undefined => {
    const fact = lead === undefined ? undefined : listed(lead, steps, source.id);
    steps = [];
    return fact;
  };
  for (const block of blocksOf(source.text)) {
    if (block.kind === 'item' && block.numbered === true) {
      steps.push(block.text);
      yield undefined;
      continue;
    }
    yield finished();
    lead = block.kind === 'prose' || block.kind === 'heading' ? leadOf(block) : undefined;
  }
  yield finished();
}

const leadOf = ({ kind, text }: Block): string | undefined =>
  text.length > 300 ? undefined : LEAD.exec(kind === 'heading' ? `${text.replace(/:$/, '')}:` : text)?.[1];

function listed(lead: string, steps: readonly string[], source_id: string): ExtractedFact | undefined {
  if (steps.length < MIN_STEPS || steps.length > MAX_STEPS) return undefined;
  if (steps.some((step) => step.length > MAX_STEP_LENGTH || /[?？]$/.test(step))) return undefined;
  const what = lead.trim();
  if (!standsAlone(what) || EVALUATIVE.test(what)) return undefined;
  const content = `How to ${what}:\n${steps.map((step, i) => `${i + 1}. ${step}`).join('\n')}`;
  return procedure(what, content, steps.join(' '), source_id);
}

/** "To reset the cache, run `make clean`." */
export function procedureIn(sentence: string, source_id: string): ExtractedFact | undefined {
  const plain = plainSentence(sentence);
  const found = plain && ONE_LINE.exec(plain.text);
  if (!found || !standsAlone(plain.text)) return undefined;
  return procedure(found[1]!, sentenceOf(plain.text), found[2]!, source_id);
}

const procedure = (what: string, content: string, value: string, source_id: string): ExtractedFact => ({
  kind: 'note',
  type: 'Procedure',
  title: `How to ${what}`.slice(0, 120),
  content,
  confidence: 0.8,
  source_ids: [source_id],
  subject: 'how to',
  slot: `procedure:${keyOf(what)}`,
  value,
  negated: false,
});
