/** Words that tell of a change, in several languages: what holds from now on, what was moved, and what has ended. */

const B = '(?<![\\p{L}\\p{N}])';
const E = '(?![\\p{L}\\p{N}])';
const anyOf = (text: string): string => text.trim().split(/;\s+/).join('|').replaceAll(' ', '\\s+');
const wordsOfChange = (text: string): RegExp => new RegExp(`${B}(?:${anyOf(text)})${E}`, 'giu');

const MONTH_OR_DAY =
  '(?:the )?(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|next|this|last|today|tomorrow|\\d|spring|summer|autumn|fall|winter|week|month|year|then|there)';

/** A value holds from now on, or has changed to another one. */
const CHANGED = wordsOfChange(`
  now; nowadays; these days; from now on; from then on; as of; currently; starting; new; newest; newly; brand-new; update; updated; updates; correction; instead; actually;
  since; from (?:\\p{L}+ ){1,3}on(?:wards?)?; from(?= ${MONTH_OR_DAY}); moved; moves; changed; changes; changing; switched; switches; swapped; replaced; replaces; renamed; converted; became; becomes; upgraded; downgraded;
  bumped; raised; increased; lowered; reduced; cut; doubled; halved; shortened; extended; lengthened; slipped; slips; pushed; postponed; delayed; rescheduled; rebooked; brought forward; put back; put off; put forward; this year; this term; this season; this semester; shifted; shifts; relocated; transferred; migrated; ported;
  went up; went down; goes up; goes down; goes to; gone up; gone down; went to; grew; grown; shrinks; shrank; rose; risen; fell; dropped to; drops to; climbed; slowed; sped up; scaled; expanded; trimmed; up to; down to;
  took over; takes over; taken over; handed over; handed; passed to; promoted; stays open; redone; recalculated; agreed; settled on; corrected; asked for; better;
  jetzt; nun; neu; neue; neuer; neues; neuen; neuem; neuerdings; inzwischen; mittlerweile; künftig; ab; seit; ab sofort; stattdessen; gewechselt; getauscht; verschoben; verlegt; umgezogen; umgestellt; umgestiegen; geändert; erhöht; erhöhung; gesenkt; gestiegen; gesunken; steigt; sinkt; übernimmt; übernommen; \\p{L}*erhöhung; \\p{L}*änderung;
  maintenant; désormais; dorénavant; depuis; à partir; nouveau; nouvelle; nouveaux; nouvel; changé; changée; déplacé; déplacée; déplacés; reporté; reportée; avancé; passé à; passe à; passée à; augmenté; augmente; baissé; baisse; déménagé; devient; devenu;
  ahora; desde; a partir; nuevo; nueva; nuevos; nuevas; cambié; cambió; cambiado; cambiamos; cambia; movido; trasladado; trasladó; aplazado; aplazada; sube; subió; subido; baja; bajó; bajado; pasa a; pasó a; mudó; mudamos; mudado;
  ora; adesso; d'ora in poi; da(?: (?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre)); salito; salita; sceso; scesa; nuovo; nuova; nuovi; cambiato; cambiata; spostato; spostata; aumentato; sale a; scende a; diventato; trasferito; trasferita;
  agora; mudou; mudei; novo; nova; a partir; passou; subiu; baixou; nu; vanaf; sinds; nieuw; nieuwe; veranderd; verplaatst; verhuisd; verhoogd; verlaagd; voortaan; gewijzigd`);
const CHANGED_HAN =
  /现在|如今|目前|改到|改成|改为|改在|改用|换成|换到|换了|搬到|搬去|搬家|开始|降到|涨到|升到|调到|减到|加到|推迟|延期|提前到|更新|调整|从[^，。]{1,8}起|以后|今は|今では|現在|になった|になりました|変更|変わ|移動|引っ越|新しい|から.{0,8}に/gu;

/** Somebody ended what it names, or it was ended. */
const ENDED_OBJECT = wordsOfChange(`
  gave up on; given up on; gave up; given up; dropped; ditched; abandoned; sold; removed; stopped using; stopped; cancelled; canceled; replaced; swapped; got rid of; decommissioned; phased out; fired; sacked; laid off; finished(?=[^.;]{0,60} now\\b); discontinued; killed; gave back; packed in; no more;
  (?<=(?:switched|switch|moved|changed|migrated|upgraded|converted|went|swapped)\\b[^.,;]{0,40} )from; instead of; rather than; in place of; switched from; moved from; upgraded from; changed from; moved off; over from`);
/** What it names went away. */
const ENDED_SUBJECT = wordsOfChange(`
  gone; left; quit; resigned; retired; closed down; closed; closes down; shut down; went bust; bankrupt; flooded; overbooked; died; expired; split up; broke up; divorced; moved away; moved out; moved on; pulled out; stepped down; stepped back; dropped out; backed out; passed away; on sabbatical; on (?:\\p{L}+ )?leave; out of business`);
/** What is on either side of it no longer holds. */
const ENDED_BESIDE = wordsOfChange(`
  no longer; any ?more; any longer;
  nicht mehr; kein \\p{L}+ mehr; keine \\p{L}+ mehr; statt; im mutterschutz; in elternzeit; im ruhestand; anstatt; verkauft; gekündigt; zugemacht; geschlossen; in rente; aufgehört; ersetzt; abgeschafft; weggezogen; aufgegeben; verlassen; ausgezogen;
  n'est plus; ne \\p{L}+ plus; n'\\p{L}+ plus; vendu; vendue; quitté; fermé; fermée; remplacé; remplacée; arrêté; supprimé; au lieu de; plutôt que; à la retraite; annulé; annulée;
  ya no; vendí; vendió; vendimos; vendido; dejé; dejó; dejamos; cerró; cerrado; cerraron; en vez de; en lugar de; jubiló; jubilado; reemplazado; reemplazó; canceló; cancelado; sustituido;
  non \\p{L}+ più; venduto; venduta; lasciato; chiuso; chiusa; sostituito; invece di; al posto di; in pensione; já não; vendi; vendeu; deixou; fechou; em vez de; no lugar de; niet meer; geen \\p{L}+ meer; verkocht; gestopt; gesloten; vervangen; in plaats van`);
const ENDED_HAN =
  /不再|已经不|不用了|取消|卖了|卖掉|离职|辞职|退休|关门|停了|空出来|もう|やめ|辞め|売っ|閉店|廃止|中止/gu;

/** A whole statement no longer holds. */
const DENIED = wordsOfChange(
  "no longer; any ?more; any longer; nicht mehr; ne \\p{L}+ plus; n'\\p{L}+ plus; ya no; non \\p{L}+ più; já não; niet meer",
);
const DENIED_HAN = /不再|已经不|もう/gu;

/** What it names may have ended, or may only be elsewhere. */
const SHIFTED = wordsOfChange(`
  moved; changed; switched; upgraded; rebooked; broke; broken; lost; shifted; relocated; transferred; migrated;
  gewechselt; getauscht; umgezogen; déménagé; changé; cambié; cambió; cambiado; cambiamos; mudó; mudamos; cambiato; trasferito; mudou; verhuisd`);
const SHIFTED_HAN = /搬到|搬去|搬家|换成|换到|换了|改成|改为|改用|引っ越/gu;

/** A measurement that was taken anew. */
const MEASURED = wordsOfChange(
  "again; latest; this morning; this evening; this week; this month; today; today's; measured; re-measured; remeasured; heute; wieder; aujourd'hui; hoy",
);

/** It joins others: "also". */
const ADDED = wordsOfChange(`
  also; too(?=\\s*(?:[.,;]|$)); as well; additionally; another; in addition; a second; besides; extra; second; auch; außerdem; zusätzlich; noch ein; noch eine; aussi; également; en plus; también; además; anche; inoltre; também; além; ook`);
const ADDED_HAN = /也|还有|另外|も|さらに/gu;
/** What is said to go on. */
const CONTINUED = wordsOfChange(
  'still; stays; remains; remain; keeps; noch; weiterhin; bleibt; toujours; encore; reste; todavía; aún; sigue; ancora; ainda; nog steeds',
);

/** Wishes, plans, conditions, reports and what holds for a while change nothing. */
const UNREAL = wordsOfChange(`
  will; won't; shall; going to; plans? to; planned to; planning to; intend; intends; want to; wants to; would; could; should; might; may (?=be|have|move|change|become|switch|need); maybe; perhaps; if; unless; whether; hope; hopes; hoping; dream; dreams; wish; wishes; considering; considers; thinking of; thinking about; looking for; looking to; supposed to; rumou?rs?; apparently; allegedly; used to; pretend; imagine; suppose; wonder; wonders; wondering; trying to; struggling; stuck on; not sure; let's; remind me; don't forget; need to; have to; has to; must;
  könnte; könnten; vielleicht; würde; würden; sollte; sollten; falls; wenn; möchte; möchten; plant; planen; peut-être; si; pourrait; devrait; voudrais; voudrait; faudrait; quizás; quizá; tal vez; podría; debería; quiere; quiero; forse; potrebbe; dovrebbe; vorrei; talvez; poderia; misschien; zou; zouden`);
const UNREAL_HAN = /也许|可能|打算|如果|应该|想要|かもしれ|つもり|もし|たい/gu;
const TEMPORARY = wordsOfChange(`
  tonight; tomorrow; temporarily; just for; only for; for (?:the|a|an|two|three|four|five|six|\\d+) (?:day|days|week|weeks|weekend|weekends|while|month|months); until (?:${MONTH_OR_DAY}|further|she|he|they|i|we|it); out of order; this weekend; sometimes; occasionally;
  vorübergehend; diese woche; heute abend; morgen; temporairement; cette semaine; ce soir; demain; temporalmente; esta semana; mañana; questa settimana; domani`);

export interface WordSpan {
  readonly start: number;
  readonly end: number;
}

export interface ChangeWords {
  readonly changed: readonly WordSpan[];
  readonly ended_object: readonly WordSpan[];
  readonly ended_subject: readonly WordSpan[];
  readonly ended_beside: readonly WordSpan[];
  readonly denied: readonly WordSpan[];
  readonly shifted: readonly WordSpan[];
  readonly measured: readonly WordSpan[];
  readonly added: readonly WordSpan[];
  readonly continued: readonly WordSpan[];
}

const spansOf = (text: string, ...forms: readonly RegExp[]): WordSpan[] =>
  forms.flatMap((form) =>
    [...text.matchAll(form)].map(({ 0: { length }, index }) => ({ start: index, end: index + length })),
  );

const SENTENCE = /[^.!?\n。！？]*(?:[.!?。！？](?![\s\n]|$)[^.!?\n。！？]*)*[.!?\n。！？]*/gu;

/** Sentences that state what is: no questions, plans, wishes and conditions. */
export function statedParts(text: string): WordSpan[] {
  return [...text.matchAll(SENTENCE)].flatMap(({ 0: sentence, index }) => {
    const isStated =
      sentence.trim() !== '' &&
      !/[?？]["')\]]*\s*$/.test(sentence) &&
      spansOf(sentence, UNREAL, UNREAL_HAN, TEMPORARY).length === 0;
    return isStated ? [{ start: index, end: index + sentence.length }] : [];
  });
}

export const isWithin = (one: WordSpan, parts: readonly WordSpan[]): boolean =>
  parts.some(({ start, end }) => one.start >= start && one.end <= end);

export function changeWordsIn(text: string, stated: readonly WordSpan[]): ChangeWords {
  const found = (...forms: readonly RegExp[]) => spansOf(text, ...forms).filter((one) => isWithin(one, stated));
  return {
    changed: found(CHANGED, CHANGED_HAN),
    ended_object: found(ENDED_OBJECT),
    ended_subject: found(ENDED_SUBJECT),
    ended_beside: found(ENDED_BESIDE, ENDED_HAN),
    denied: found(DENIED, DENIED_HAN),
    shifted: found(SHIFTED, SHIFTED_HAN),
    measured: found(MEASURED),
    added: found(ADDED, ADDED_HAN),
    continued: found(CONTINUED),
  };
}
