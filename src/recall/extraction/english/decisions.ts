/** Rules of extraction: what was decided, and what is always or never to be done. */
import { namingSpeaker, ofSpeaker, subjectName } from '../../../text/index.js';
import { type FactDraft, type FactRule, keyOf, sentenceOf, speakerKey, type Voice } from './drafts.js';
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

/** "Let's move to the next topic": of the talk itself. */
const OF_TALK =
  /\b(?:topics?|sections?|questions?|intro|agenda|conversation|a day|opportunity|thread|(?:next|another|other|last|previous) (?:\w+ )?(?:points?|parts?|steps?|pages?|slides?|items?|subjects?|chapters?|things?))\b/i;
/** "Let's keep going", "let's use some time": no choice of anything. */
const NO_CHOICE =
  /^(?:going|it|on|up|an eye|in touch|moving|talking|working|trying|some time|the time|our time|this|that|these|those|them|one|you|your|him|her|everyone|everything|things)\b/i;

/** A name, a number, or more than one word that says something: not "the flow". */
const isSomething = (rest: string): boolean => /[A-Z`\d]/.test(rest) || keyOf(rest).includes(' ');

/** "Call the service Atlas" gives a name; "call Anna", "call the client Acme Corp tomorrow" is a call by phone. */
const NAMING =
  /^(?:the|our|this) (?!(?:\w+ )?(?:client|customer|boss|manager|doctor|dentist|landlord|vendor|supplier)\b)(?:[\w-]+ ){1,3}(?:[\p{Lu}`"'][^ ]*)(?: [\p{Lu}\d`][^ ]*){0,3}$/u;
const isNamed = (verb: string, rest: string): boolean => !/^(?:call|name)$/i.test(verb) || NAMING.test(rest);

const isChoice = (rest: string): boolean => !NO_CHOICE.test(rest) && !OF_TALK.test(rest) && isSomething(rest);

/** What everybody decides all the time. */
const TRIVIAL =
  /^(?:wait|see|meet|talk|try|go|stay|leave|disagree|sit|stop|continue|take|give|think|look|come|keep (?:going|at)|move on|hang out|catch up|be|do|get|have|just|start|help|share)\b/i;

const CHOSE =
  /^(?:we|the team)(?:'ve| have)? (?:all |both |finally |now |just |already )*(?:chosen|chose|picked|selected|adopted) ((?:the |an? )?[A-Z`\d].*)$/;

/** "Decision: use gRPC", "we decided: Postgres": what stands behind the colon was decided, however it is said. */
const LABEL = /^(?:(?:the |our )?(?:final )?decision|(?:we(?:'ve| have)? )?(?:decided|agreed)|resolved): (.+)$/i;
/** Nobody is named who decided it, but those who speak of it. */
const IT_WAS = /^it (?:was|has been) (decided|agreed)(?= (?:not to|to|against|on|that) )/i;
const REASON = /,? (?:because|since|as) .+$/i;

/** Without the reason, where only those who were there know what that speaks of. */
function statedDecision(sentence: string): string | undefined {
  const given = sentence
    .replace(/,? (?:instead|then|too|as well|after all)$/i, '')
    .replace(IT_WAS, (_, verb: string) => `We ${verb.toLowerCase()}`);
  return [given, given.replace(REASON, '')].find(standsAlone);
}

/** Of an assistant only what is said to be decided: what it will use is what it shows next. */
export const decisions: FactRule = (sentence, voice) => {
  const label = LABEL.exec(sentence);
  if (label) return decisions(label[1]!, voice) ?? (voice.person ? labelled(label[1]!) : undefined);
  const given = statedDecision(sentence);
  if (given === undefined) return undefined;
  const decided = DECIDED.exec(given) ?? DECISION_IS.exec(given);
  if (decided) return /^i\b/i.test(given) ? ownDecision(decided, given, voice) : decidedBy(decided, given);
  const chose = CHOSE.exec(given.replace(/^[WT]/, (letter) => letter.toLowerCase()));
  if (chose) return decision(false, `use ${chose[1]}`, sentenceOf(given), 0.9);
  if (!voice.person) return undefined;
  const wont = WONT.exec(given);
  if (wont && isNamed(wont[1]!, wont[2]!))
    return decision(true, `${wont[1]} ${wont[2]}`, sentenceOf(`We will not ${wont[1]} ${wont[2]}`), 0.85);
  const ended = NO_LONGER.exec(given);
  if (ended) return noLonger((ended[1] ?? ended[3])!, (ended[2] ?? ended[4])!);
  const will = WILL.exec(given);
  if (will && isChoice(will[3]!) && isNamed(will[2]!, will[3]!))
    return willDo(will[1] !== undefined, will[2]!, will[3]!);
  const lets = LETS.exec(given);
  if (!lets || !isChoice(lets[3]!) || !isNamed(lets[2]!, lets[3]!)) return undefined;
  const doing = `${lets[2]} ${lets[3]}`;
  const negated = lets[1] !== undefined;
  return decision(negated, doing, sentenceOf(`We decided ${negated ? 'not ' : ''}to ${doing}`), 0.75);
};

const noLonger = (verb: string, rest: string): FactDraft | undefined =>
  isChoice(rest) && isNamed(verb, rest)
    ? decision(true, `${verb} ${rest}`, sentenceOf(`We no longer ${verb} ${rest}`), 0.85)
    : undefined;

const labelled = (said: string): FactDraft | undefined =>
  standsAlone(said) && isSomething(said)
    ? decision(isNegated(withForWithout(said)), said, sentenceOf(`Decision: ${said}`), 0.85)
    : undefined;

const decidedBy = (found: RegExpExecArray, content: string): FactDraft | undefined =>
  TRIVIAL.test(found[2]!) && !/[A-Z`\d]/.test(found[2]!)
    ? undefined
    : decision(/^(?:not to|against)$/i.test(found[1]!), found[2]!, sentenceOf(content), 0.9);

/** What one has decided for oneself is often what one does today: it counts where it names something. */
function ownDecision(found: RegExpExecArray, given: string, voice: Voice): FactDraft | undefined {
  if (!voice.person || !/[A-Z`\d]/.test(found[2]!.replace(/\bI\b/g, ''))) return undefined;
  const rest = given.replace(/^i(?:'ve| have)?/i, '').trim();
  const has = /^i(?:'ve| have)/i.test(given) ? 'has ' : '';
  const draft = decidedBy(found, `${subjectName(voice.name)} ${has}${ofSpeaker(rest)}`);
  return draft && { ...draft, subject: speakerKey(voice) };
}

/** "We are using" and "we're going with" tell of a choice; "we are call…" is no English. */
function willDo(negated: boolean, verb: string, rest: string): FactDraft | undefined {
  const going = /ing\b/i.test(verb);
  const doing = `${verb} ${rest}`;
  return decision(
    negated,
    doing,
    sentenceOf(going ? `We are ${negated ? 'not ' : ''}${doing}` : `We will ${negated ? 'not ' : ''}${doing}`),
    0.8,
  );
}

const CHOSEN = new RegExp(`^(?:${CHOOSING}) (.+)$`, 'i');

function decision(negated: boolean, doing: string, content: string, confidence: number): FactDraft | undefined {
  const said = doing.trim();
  if (said.split(' ').length < 2 && !negated && !/[A-Z`]/.test(said)) return undefined;
  const common = { kind: 'artifact', type: 'Decision', content, subject: 'we', negated, confidence } as const;
  const object = CHOSEN.exec(said)?.[1] ?? said;
  const parts = /^(.+?)(?: (?:instead of|rather than|over) (.+?))?(?: (?:for|as) (.+))?$/i.exec(object)!;
  const [, what, , purpose] = parts;
  // With a purpose, another choice for it contradicts this one; without, only the contrary does.
  const slot = purpose === undefined ? `decision:${keyOf(said)}` : `choice:${keyOf(purpose)}`;
  return keyOf(what!) === '' ? undefined : { ...common, slot, value: what!.trim() };
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
/** In an instruction they are whoever is told. */
const TOLD = /\byour?(?:self)?\b/gi;
/** Said for the moment, or to be kind. */
const MOMENTARY =
  /\b(?:yet|now|today|right now|for now|at the moment|just|worry|me know|anything|a lot|too much|too many|myself|up on|a thing)\b/i;

export const conventions: FactRule = (all, { person, name }) => {
  if (!person || !standsAlone(all.replace(TOLD, ''))) return undefined;
  const wanted = all.replace(WANTED, '').replace(/^please (?=from now on)/i, '');
  // Once it is taken off, "now" is this moment.
  const sentence = wanted.replace(FROM_NOW_ON, '');
  const for_good = sentence !== wanted;
  const found = ALWAYS.exec(sentence);
  const doing = found?.[2] ?? (for_good ? TO_DO.exec(sentence)?.[1] : undefined);
  if (doing === undefined || MOMENTARY.test(doing)) return undefined;
  const word = found?.[1]?.toLowerCase() ?? 'always';
  const negated = /never|not|n't/.test(word);
  // "Don't use tabs" may be meant for this once; "never", "ever" and "from now on" are for good.
  const once = !for_good && (word === "don't" || word === 'do not');
  if (once && (/\b(?:my|me)\b/i.test(doing) || !/\b(?:in|to|on|for|with|without|from|as|at) /i.test(doing)))
    return undefined;
  return {
    kind: 'note',
    type: 'Convention',
    content: sentenceOf(
      `${negated ? 'Never' : 'Always'} ${namingSpeaker(doing, name).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}`,
    ),
    subject: 'we',
    slot: `always:${keyOf(doing)}`,
    value: doing,
    negated: negated !== isNegated(withForWithout(doing)),
    confidence: once ? 0.7 : 0.85,
  };
};
