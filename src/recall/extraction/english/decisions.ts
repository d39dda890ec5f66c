/** Extraction rules: decisions, and conventions ("always", "never"). */
import { inThirdPerson, namingSpeaker, subjectName } from '../../../text/index.js';
import { type FactDraft, type FactRule, keyOf, noteOf, sentenceOf, speakerKey, type Voice } from './drafts.js';
import { standsAlone } from './sentences.js';
import { isNegated } from './statements.js';
import { withForWithout } from './wordings.js';

const CHOOSING =
  'use|using|go with|going with|stick with|stick to|switch to|adopt|migrate to|move to|keep using|settle on|stay with|standardize on|standardise on';
const UNDER_WAY = 'dropping|switching to|moving to|migrating to|adopting|sticking with|deprecating|replacing';
const DOING = `${CHOOSING}|${UNDER_WAY}|drop|deprecate|remove|replace|support|ship|release|deploy|store|build|rewrite|host|postpone|cancel|launch|hire|rename|split|merge|skip|write|call|name`;

const DECIDED =
  /^(?:we|i|the team)(?:'ve| have| had)? (?:all |both |finally |now |just |already )*(?:decided|agreed|chosen|chose|opted|settled|voted) (not to|against|to|on|for|that we(?:'ll| will)|that) (.+)$/i;
const DECISION_IS = /^(?:the|our)(?: final)? decision (?:is|was) (not to|to) (.+)$/i;
const WILL = new RegExp(`^we(?:'ll| will|'re going to| are going to|'re| are) (not |no longer )?(${DOING}) (.+)$`, 'i');
const WONT = new RegExp(`^we (?:won't|will not|'re not going to|are not going to) (${DOING}) (.+)$`, 'i');
const NO_LONGER = new RegExp(
  `^we (?:no longer (${DOING}) (.+)|(?:don't|do not) (${DOING}) (.+) (?:any ?more|any longer))$`,
  'i',
);
const LETS = new RegExp(`^let's (?:just |all )?(not )?(${CHOOSING}|drop|postpone|name|call|rename) (.+)$`, 'i');

/** "Let's move to the next topic" is about the talk itself. */
const OF_TALK =
  /\b(?:topics?|sections?|questions?|intro|agenda|conversation|a day|opportunity|thread|(?:next|another|other|last|previous) (?:\w+ )?(?:points?|parts?|steps?|pages?|slides?|items?|subjects?|chapters?|things?))\b/i;
/** "Let's keep going", "let's use some time" choose nothing. */
const NO_CHOICE =
  /^(?:going|it|on|up|an eye|in touch|moving|talking|working|trying|some time|the time|our time|this|that|these|those|them|one|you|your|him|her|everyone|everything|things)\b/i;

/** Has a name, a number, or more than one content word: not "the flow". */
const isSomething = (rest: string): boolean => /[A-Z`\d]/.test(rest) || keyOf(rest).includes(' ');

/** "Call the service Atlas" gives a name; "call Anna", "call the client Acme Corp tomorrow" is a call by phone. */
const NAMING =
  /^(?:the|our|this) (?!(?:\w+ )?(?:client|customer|boss|manager|doctor|dentist|landlord|vendor|supplier)\b)(?:[\w-]+ ){1,3}(?:[\p{Lu}`"'][^ ]*)(?: [\p{Lu}\d`][^ ]*){0,3}$/u;
const isNamed = (verb: string, rest: string): boolean => !/^(?:call|name)$/i.test(verb) || NAMING.test(rest);

const isChoice = (rest: string): boolean => !NO_CHOICE.test(rest) && !OF_TALK.test(rest) && isSomething(rest);

/** Everyday decisions. */
const TRIVIAL =
  /^(?:wait|see|meet|talk|try|go|stay|leave|disagree|sit|stop|continue|take|give|think|look|come|keep (?:going|at)|move on|hang out|catch up|be|do|get|have|just|start|help|share)\b/i;

const CHOSE =
  /^(?:we|the team)(?:'ve| have)? (?:all |both |finally |now |just |already )*(?:chosen|chose|picked|selected|adopted) ((?:the |an? )?[A-Z`\d].*)$/;

/** "Decision: use gRPC", "we decided: Postgres". */
const LABEL = /^(?:(?:the |our )?(?:final )?decision|(?:we(?:'ve| have)? )?(?:decided|agreed)|resolved): (.+)$/i;
/** Without a subject, the speakers decided it. */
const IT_WAS = /^it (?:was|has been) (decided|agreed)(?= (?:not to|to|against|on|that) )/i;
const REASON = /,? (?:because|since|as) .+$/i;

/** Drops the reason if only that refers to something outside the sentence. */
function statedDecision(sentence: string): string | undefined {
  const given = sentence
    .replace(/,? (?:instead|then|too|as well|after all)$/i, '')
    .replace(IT_WAS, (_, verb: string) => `We ${verb.toLowerCase()}`);
  return [given, given.replace(REASON, '')].find(standsAlone);
}

/** Of an assistant only explicit decisions: "I will use" announces its next example. */
export const decisions: FactRule = (sentence, voice) => {
  const label = LABEL.exec(sentence);
  if (label) return decisions(label[1]!, voice) ?? (voice.person ? labelled(label[1]!) : undefined);
  const given = statedDecision(sentence);
  if (given === undefined) return undefined;
  const decided = DECIDED.exec(given) ?? DECISION_IS.exec(given);
  if (decided) return /^i\b/i.test(given) ? ownDecision(decided, given, voice) : decidedBy(decided, given);
  const chose = CHOSE.exec(given.replace(/^[WT]/, (letter) => letter.toLowerCase()));
  if (chose) return decision(false, `use ${chose[1]}`, given, 0.9);
  if (!voice.person) return undefined;
  const wont = WONT.exec(given);
  if (wont && isNamed(wont[1]!, wont[2]!))
    return decision(true, `${wont[1]} ${wont[2]}`, `We will not ${wont[1]} ${wont[2]}`, 0.85);
  const ended = NO_LONGER.exec(given);
  if (ended) return chosen((ended[1] ?? ended[3])!, (ended[2] ?? ended[4])!, true, 'We no longer', 0.85);
  const [, not, verb, rest] = (WILL.exec(given) ?? []) as (string | undefined)[];
  if (verb !== undefined) {
    const auxiliary = /ing\b/i.test(verb) ? 'are' : 'will';
    return chosen(verb, rest!, not !== undefined, `We ${auxiliary}${not === undefined ? '' : ' not'}`, 0.8);
  }
  const lets = LETS.exec(given);
  if (!lets) return undefined;
  return chosen(lets[2]!, lets[3]!, lets[1] !== undefined, `We decided ${lets[1] === undefined ? '' : 'not '}to`, 0.75);
};

function chosen(verb: string, rest: string, negated: boolean, lead: string, confidence: number): FactDraft | undefined {
  if (!isChoice(rest) || !isNamed(verb, rest)) return undefined;
  return decision(negated, `${verb} ${rest}`, `${lead} ${verb} ${rest}`, confidence);
}

const labelled = (text: string): FactDraft | undefined =>
  standsAlone(text) && isSomething(text)
    ? decision(isNegated(withForWithout(text)), text, `Decision: ${text}`, 0.85)
    : undefined;

const decidedBy = (found: RegExpExecArray, content: string): FactDraft | undefined =>
  TRIVIAL.test(found[2]!) && !/[A-Z`\d]/.test(found[2]!)
    ? undefined
    : decision(/^(?:not to|against)$/i.test(found[1]!), found[2]!, content, 0.9);

/** A personal decision is often momentary: it counts only if it names something. */
function ownDecision(found: RegExpExecArray, given: string, voice: Voice): FactDraft | undefined {
  if (!voice.person || !/[A-Z`\d]/.test(found[2]!.replace(/\bI\b/g, ''))) return undefined;
  const rest = given.replace(/^i(?:'ve| have)?/i, '').trim();
  const has = /^i(?:'ve| have)/i.test(given) ? 'has ' : '';
  const draft = decidedBy(found, `${subjectName(voice.name)} ${has}${inThirdPerson(rest)}`);
  return draft && { ...draft, subject: speakerKey(voice) };
}

const CHOSEN = new RegExp(`^(?:${CHOOSING}) (.+)$`, 'i');

function decision(negated: boolean, doing: string, content: string, confidence: number): FactDraft | undefined {
  const said = doing.trim();
  if (said.split(' ').length < 2 && !negated && !/[A-Z`]/.test(said)) return undefined;
  const object = CHOSEN.exec(said)?.[1] ?? said;
  const [, what, purpose] = /^(.+?)(?: (?:instead of|rather than|over) .+?)?(?: (?:for|as) (.+))?$/i.exec(object)!;
  if (keyOf(what!) === '') return undefined;
  return {
    kind: 'artifact',
    type: 'Decision',
    content: sentenceOf(content),
    subject: 'we',
    negated,
    confidence,
    // Another choice for the same purpose contradicts this one; without a purpose only the opposite does.
    slot: purpose === undefined ? `decision:${keyOf(said)}` : `choice:${keyOf(purpose)}`,
    value: what!.trim(),
  };
}

const VERBS =
  'use|run|write|add|put|keep|commit|push|deploy|call|format|test|check|validate|log|return|throw|name|prefix|wrap|import|store|send|reply|respond|answer|ask|include|escape|sanitize|document|review|merge|rebase|squash|delete|remove|edit|change|touch|mock|cache|hardcode|hard-code|expose|share|email|book|order|schedule|sign|lock|pin|indent|capitalize|round|quote|prefer|set|create|read|open|close|save|back up|install|update|upgrade|release|ship|translate|summarize|explain|show|cite';
const ALWAYS = new RegExp(
  `^(?:please )?(always|never|do not ever|don't ever|do not|don't|make sure to always|be sure to always) ((?:${VERBS}) .+)$`,
  'i',
);
const FROM_NOW_ON = /,? from now on$|^from now on,? /i;
const TO_DO = new RegExp(`^(?:please )?((?:${VERBS}) .+)$`, 'i');
/** "I want you to always cite sources". */
const WANTED = /^i (?:want|need) you to (?=(?:always|never) )/i;
/** In an instruction, "you" is the addressee. */
const ADDRESSEE = /\byour?(?:self)?\b/gi;
/** Momentary or polite. */
const MOMENTARY =
  /\b(?:yet|now|today|right now|for now|at the moment|just|worry|me know|anything|a lot|too much|too many|myself|up on|a thing)\b/i;

export const conventions: FactRule = (all, voice) => {
  if (!voice.person || !standsAlone(all.replace(ADDRESSEE, ''))) return undefined;
  const wanted = all.replace(WANTED, '').replace(/^please (?=from now on)/i, '');
  // Removed first: otherwise "now" would make it momentary.
  const sentence = wanted.replace(FROM_NOW_ON, '');
  const for_good = sentence !== wanted;
  const found = ALWAYS.exec(sentence);
  const doing = found?.[2] ?? (for_good ? TO_DO.exec(sentence)?.[1] : undefined);
  if (doing === undefined || MOMENTARY.test(doing)) return undefined;
  const word = found?.[1]?.toLowerCase() ?? 'always';
  const negated = /never|not|n't/.test(word);
  // "Don't use tabs" may hold only this time; "never", "ever" and "from now on" hold for good.
  const once = !for_good && (word === "don't" || word === 'do not');
  if (once && (/\b(?:my|me)\b/i.test(doing) || !/\b(?:in|to|on|for|with|without|from|as|at) /i.test(doing)))
    return undefined;
  const named = namingSpeaker(doing, voice.name).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  return noteOf(voice, 'Convention', `${negated ? 'Never' : 'Always'} ${named}`, {
    subject: 'we',
    slot: `always:${keyOf(doing)}`,
    value: doing,
    negated: negated !== isNegated(withForWithout(doing)),
    confidence: once ? 0.7 : 0.85,
  });
};
