/** Who holds a role or looks after a thing, where the person is the value: "Tom is the team lead", "Ann owns billing". */
import { keyOf } from '../extraction/english/drafts.js';
import { PROPER } from '../extraction/english/names.js';
import { type ClaimForm, slotKey } from './found-claims.js';
import { PERSON, personKey } from './subjects.js';
import { attributeKey, valueAt } from './values.js';

/** Roles that one person has at a time. */
const ROLES =
  '(?:[\\p{L}-]+ ){0,2}(?:lead|owner|maintainer|manager|CEO|CTO|CFO|COO|head|captain|treasurer|president|chair|chairman|chairwoman|director|contact|editor|secretary|coordinator|organi[sz]er|coach|host|speaker|principal|landlord|on call|release manager|mayor)';
const HOLDS = new RegExp(
  `^(?<who>${PERSON}) (?:is|became|has become|was made|takes over as|took over as|was appointed|was elected) (?:now )?(?<no>no longer |not )?(?:the|our) (?:new )?(?<role>${ROLES})(?<of>(?: (?:of|for|at|in) [^,]+?)?)(?<rest>$|[,;.]| now\\b| from now on| instead| since\\b| because\\b| as of\\b| any ?more| from .+| again).*$`,
  'u',
);
const RUNS = new RegExp(
  `^(?<who>${PERSON}) (?:now |currently )?(?<verb>owns|leads|maintains|manages|runs|heads|handles|looks after|takes care of|is in charge of|is responsible for|takes over|took over|has taken over|is on) (?<value>(?!an? |one |two |three |four |five |some |several |many |his |her |their |my )(?:the |our )?.+)$`,
  'u',
);

/** Who holds a role or looks after a thing: the person is the value. */
const holders: ClaimForm = (sentence, speaker) => {
  const holds = HOLDS.exec(sentence);
  if (holds) {
    const { who, role, of, no } = holds.groups as { who: string; role: string; of: string; no?: string };
    if (personKey(who, 'works', speaker) === undefined) return [];
    const key = slotKey('', `is:${attributeKey(`${role}${of.replace(/ (?:of|for|at|in) (?:the |our )?/, ' ')}`)}`);
    return [
      {
        key,
        kind: 'one',
        value: who,
        negated: no !== undefined,
        start: 0,
        end: who.length,
        changes: /became|become|over|made/.test(sentence),
        more: false,
      },
    ];
  }
  const runs = RUNS.exec(sentence);
  if (!runs) return [];
  const { who, verb, value } = runs.groups as { who: string; verb: string; value: string };
  if (personKey(who, 'works', speaker) === undefined || /^is on$/.test(verb)) return [];
  const { value: thing, more } = valueAt(value);
  const what = thing.replace(/ from \p{Lu}.*$/u, '').replace(/^(?:the|our) /, '');
  if (keyOf(what) === '' || what.split(' ').length > 4) return [];
  const role =
    /^(?:takes over|took over|has taken over|owns|handles|looks after|takes care of|is in charge of|is responsible for|maintains)$/.test(
      verb,
    )
      ? 'owner'
      : 'lead';
  const replaced = / from (\p{Lu}[\p{L}'-]*)/u.exec(thing)?.[1];
  return [
    {
      key: slotKey('', `is:${attributeKey(`${what} ${role}`)}`),
      kind: 'one',
      value: who,
      negated: false,
      start: 0,
      end: who.length,
      changes: /over$/.test(verb),
      replaced,
      more,
    },
  ];
};

const THING = '(?:[Tt]he |[Oo]ur )?(?<thing>(?:[\\p{L}\\d-]+ ){0,3}?[\\p{L}\\d-]+)';
const HANDED = new RegExp(
  `^${THING} (?:(?:was|were|has been|have been|got) (?:now )?(?:handed over|handed|passed(?: on)?|transferred|reassigned|assigned)|(?:now )?belongs?)(?: now)?(?: from (?<from>${PROPER}))? to (?<value>${PROPER})(?<rest>$|[,;.\\s].*$)`,
  'u',
);
const HANDED_FROM = new RegExp(
  `^${THING} (?:moved|passed|went|goes|shifted)(?: over)? from (?<from>${PROPER}) to (?<value>${PROPER})(?<rest>$|[,;.\\s].*$)`,
  'u',
);

const handedBy =
  (form: RegExp): ClaimForm =>
  (sentence) => {
    const found = form.exec(sentence);
    if (!found) return [];
    const { thing, value, from, rest } = found.groups as Record<'thing' | 'value' | 'rest', string> & { from?: string };
    if (personKey(value, 'works', null) === undefined) return [];
    const start = sentence.length - rest.length - value.length;
    const claim = { value, start, end: start + value.length, kind: 'one', negated: false, changes: true } as const;
    return [
      { ...claim, key: slotKey('', `is:${attributeKey(`${thing} owner`)}`), replaced: from, more: keyOf(rest) !== '' },
    ];
  };

/** "Onboarding moved from Sara to Jonas"; what moves may be an office as well, so other forms come first. */
export const handedFromForm: ClaimForm = handedBy(HANDED_FROM);

const handed = handedBy(HANDED);

export const holderForms: ClaimForm = (sentence, speaker) => {
  const found = holders(sentence, speaker);
  return found.length > 0 ? found : handed(sentence, speaker);
};
