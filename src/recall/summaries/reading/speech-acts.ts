/** What a sentence does in a conversation: it greets, agrees, muses, proposes, decides, or tells something. */

/** Greetings, thanks, acknowledgements and reactions, which may stand before what is said. */
const ACKNOWLEDGEMENT = alternatives(
  "good to know|good point|good question|good idea|good plan|good call|good morning|good evening|good afternoon|good night|sounds good|sounds great|sounds right|makes sense|no problem|you're right|you are right|you're welcome|happy to help|happy to|got it|will do|of course|all right|sure thing|fair enough|fair point|thank you so much|thank you very much|thank you|thanks a lot|thanks so much|thanks|thx|ty|cheers|night night|you're a star|oh no|oh god|oh wow|oh dear|oh yes|oh right|hold on|quick note|one more thing|one thing though|one thing|one more|by the way|good intelligence|great idea|very good|much better|welcome|okay|ok|k|sure|great|nice|cool|awesome|amazing|lovely|perfect|excellent|wonderful|brilliant|fantastic|good|fair|alright|right|exactly|absolutely|certainly|definitely|noted|understood|done|agreed|true|indeed|correct|hi|hello|hey|hiya|yo|morning|bye|goodbye|yes|yeah|yep|yup|no|nope|nah|oh|ah|ooh+|aha|wow|whoa|ugh|argh|damn|hm+|haha+|lol|well|so|and|also|btw|fyi|anyway|look|listen|wait|" +
    "très bien|d'accord|c'est noté|noté|au fait|ah bon|merci beaucoup|merci bien|merci mille fois|mille fois|merci|bonjour|bonsoir|salut|bonne soirée|bonne journée|bonne nuit|bon courage|bonne chance|belle idée|bonne idée|bien vu|parfait|super|compris|oui|non|justement|évidemment|" +
    'in ordnung|notiert|aktualisiert|gerne|sehr gut|danke schön|danke|alles klar|na gut|guten morgen|guten tag|schönen abend|schönen tag|viel erfolg|hallo|gut|genau|verstanden|ja|nein|also|übrigens|' +
    'muchas gracias|gracias|muy bien|buenos días|buenas tardes|buenas noches|de acuerdo|hola|vale|perfecto|entendido|claro|sí|bueno|' +
    "grazie mille|grazie|va bene|buongiorno|buonasera|d'accordo|ciao|perfetto|capito|certo|sì|" +
    'dank je wel|dank je|goedemorgen|fijne avond|bedankt|hoi|goed|prima|begrepen|' +
    'muito obrigad[oa]|obrigad[oa]|bom dia|boa noite|olá|entendi|sim',
);

/** Of phrases that stand for themselves, the longest that fits. */
function alternatives(phrases: string): string {
  const longest = phrases.split('|').sort((a, b) => b.length - a.length);
  return `(?:${longest.join('|')})(?![\\p{L}\\p{N}'’-])`;
}
const LEADING = new RegExp(`^(?:${ACKNOWLEDGEMENT}(?:[,.!…:;\\s—–-]+|$)|[\\p{Extended_Pictographic}\\s!]+)+`, 'iu');
const TRAILING =
  /[,\s]+(?:haha+|lol|please|pls|thx|thanks|right|though|anyway|of course|huh|eh|no|hein|oder)(?=[.!?]*$)|(?:\p{Extended_Pictographic}|\ufe0f|\s)+$/giu;

/** The sentence without what only greets or acknowledges; empty if that is all. */
export function withoutTalk(sentence: string): string {
  const rest = sentence.replace(LEADING, '');
  // "So do I", "No smoking": a lead without a mark behind it may belong to the sentence.
  const lead = sentence.slice(0, sentence.length - rest.length);
  const kept = rest !== '' && !/[,.!…:;—–-]\s*$/.test(lead) && !SOFT.test(lead.trim()) ? sentence : rest;
  return kept.replace(TRAILING, '').trim();
}

/** Leads that carry nothing, also without a mark behind them. */
const SOFT = /^(?:(?:ok(?:ay)?|oh|ah|ooh|hm+|well|so|and|also|btw|fyi|yeah|yes|haha+|lol|oui|ja|sí|sì)\s*)+$/i;

/** What a sentence says after it agreed. */
export const withoutAgreement = (sentence: string): string =>
  sentence.replace(AGREEMENT, '').replace(/^[\s,.!;:—–-]+(?:and )?/iu, '');

/** Words that agree, alone or in a row: "ok, do that", "yes please". */
const AGREEING = alternatives(
  "do that|do it|do so|please do|yes please|let's do that|let's do it|let's do so|let's go|let's|go for it|go ahead|go with that|go with it|that's fine|that is fine|agreed|i agree|deal|love it|love that|i like it|i like that|like it|sounds good|sounds great|sounds right|sounds fine|sounds perfect|sound good|works for me|that works|works|makes sense|good idea|great idea|good plan|good call|nice idea|excellent idea|you're right|you are right|put exactly that|book it|take it|use that|exactly|perfect|fair enough|fair|fine|good|great|nice|lovely|cool|excellent|wonderful|brilliant|absolutely|definitely|of course|certainly|sure thing|sure|right|alright|all right|yes|yeah|yep|yup|aye|ok|okay|oh|ooh|hm|haha|please|why not|thanks|thank you|then|with that|as you say|" +
    "parfait|d'accord|on fait ça|on fait comme ça|faites ça|ça marche|ça me va|très bien|bonne idée|super|oui|volontiers|allez-y|vas-y|einverstanden|machen wir so|machen wir|mach das|abgemacht|gute idee|passt|gerne|gern|ja|genau|bitte|de acuerdo|hagámoslo|hazlo|buena idea|vale|perfecto|sí|claro|d'accordo|facciamo così|fallo|va bene|perfetto|sì|certo|akkoord|doen we|doe maar|goed idee|prima|combinado|boa ideia|sim|fechado",
);
const AGREEMENT = new RegExp(
  `^(?:${AGREEING}[\\s,]*)+(?=$|[.!;:—–-]|(?<=,\\s*)|let['’]s |and |we['’]ll |i['’]ll |with |book |take |order |put |add )`,
  'iu',
);
/** "Ok, but not before May", "nice, only too dear". */
const RESERVE =
  /(?<![\p{L}])(?:but|however|though|except|unless|instead|only|rather|not|too|let me|wait|check|first|think|maybe|perhaps|why|what|how|which|if|when|mais|sauf|pas|aber|nur|nicht|pero|sólo|ma|però|non|maar|niet|mas|não)(?![\p{L}])|n['’]t(?![\p{L}])/iu;
const IT_IS =
  /^(?!(?:i|we|you|he|she|they)\b)(?!.*\b(?:what|how|where|who|when|as|like|that|whatever|if|because|think|guess|so) )[^.!?]{1,60}? it is(?![\p{L}'’-])/iu;

const MAX_REPLY = 120;

/** The speaker agrees with what was proposed just before. */
export function agrees(turn: string): boolean {
  const first = /^[^.!?\n]*[.!?]?/.exec(turn.trimStart().slice(0, MAX_REPLY))![0];
  if (first.endsWith('?')) return false;
  if (IT_IS.test(first)) return true;
  const agreement = AGREEMENT.exec(first);
  return agreement !== null && !RESERVE.test(first.slice(agreement[0].length));
}

const REFUSAL =
  /^(?:(?:yeah|oh|hm+|well|um|ok|sorry|thanks|nice|ah)[,.]? )?(?:no(?! (?:problem|doubt|more than))|nah|nope|skip|rather not|not (?:now|yet|really|today|this (?:time|year)|for me|necessary|needed|sure)|don['’]t|never mind|i['’]d rather not|let['’]s not|forget (?:it|that)|absolutely not|definitely not|certainly not|maybe later|later maybe|another time|non(?! (?:c['’]est|plus))|pas (?:maintenant|besoin|la peine)|nein|lieber nicht|jetzt nicht|ahora no|mejor no|non ora|nee|liever niet|não)(?![\p{L}'’-])/iu;
export const refuses = (turn: string): boolean => REFUSAL.test(turn.trimStart());

/** "Option 2", "2!!", "the second": which of several options is chosen, from 1. */
export function chosenOption(turn: string): number | undefined {
  const start = turn.trimStart().slice(0, 60);
  const numbered =
    /^(?:(?:ok(?:ay)?|yes|oh|ooh+|let's|go with|i'd|take|number|option|variante?|opción|optie)[,\s]+)*\(?([1-9]|[a-e](?=[).!,]))(?![\p{L}\d.:/%,]*\d|\s\p{L})/iu.exec(
      start,
    )?.[1];
  if (numbered !== undefined) return /\d/.test(numbered) ? Number(numbered) : numbered.toLowerCase().charCodeAt(0) - 96;
  const at = ORDINALS.findIndex((ordinal) => ordinal.test(start));
  return at < 0 ? undefined : at + 1;
}

const ORDINALS = [
  /\bthe first(?: one| option)?(?=[.!,]|$)/i,
  /\bthe second(?: one| option)?(?=[.!,]|$)/i,
  /\bthe third(?: one| option)?(?=[.!,]|$)/i,
];

/** Ideas that nobody has taken up, jokes and wishes. */
const MUSING =
  /\b(?:what if|maybe|perhaps|(?:was|am|'m|been|just) thinking|thinking (?:of|about|aloud|out loud)|might|kidding|joking|would it be|i wish|dreaming|wondering|could we|someday|one day|for fun|peut-être|et si|je rêve|j'hésite|vielleicht|was wäre,? wenn|quizás?|tal vez|y si|estaba pensando|forse|e se|stavo pensando|misschien|wat als|talvez)(?![\p{L}'’-])/iu;
export const muses = (turn: string): boolean => MUSING.test(turn) || isJoking(turn);

const JOKING = /(?<![\p{L}])(?:lol|lmao|rofl|ha(?:ha)+h?|hihi|mdr|ptdr|jaja+)(?![\p{L}])|[😂🤣😅😜😝]/iu;
export const isJoking = (sentence: string): boolean => JOKING.test(sentence);

/** What an assistant says of what it heard: "Lovely idea!", "A fair trade." */
export const isRemark = (sentence: string): boolean =>
  /^[^\d]{1,40}!$/.test(sentence) || (/^(?:\S+\s){0,4}\S+$/.test(sentence) && !/\d|\s\p{Lu}|[_/@#]/u.test(sentence));

/** What happens at the moment around those who speak: "our cat just walked over the keyboard". */
const MOMENT =
  /(?<![\p{L}])(?:(?:my|our|the|a|her|his) (?:[\p{L}]+ )?(?:cat|dog|parrot|bird|puppy|kitten|hamster|baby|toddler|kids?|son|daughter|husband|wife|neighbou?rs?|phone|battery|laptop|screen|wifi|internet|connection|doorbell|kettle|coffee|tea|pizza|oven|alarm|boss)(?:['’]s)?(?: (?:is|are|was|has|have))? (?:just|now|at it|again|about to|barking|crying|screaming|calling|ringing|boiling|dying|dead|meowing|jumping|asleep|on (?:my|the)|at \d+ ?(?:%|percent)|made|threw|knocked|spilled|ate|stole)|(?:the |oh |sorry,? )*(?:door ?bell|phone)(?: (?:rang|is ringing|rings))?(?:,? sorry)?$|brb(?![\p{L}])|back in a (?:sec|minute|moment|bit)|(?:one|just a|a) sec$|might drop out|(?:spilled|knocked over) (?:my|the)|(?:typing|writing) (?:this )?(?:from|on|with) (?:my|the)|(?:on|at) the (?:bus|train|tram) (?:now|right now|so)|in bed (?:already|now)|it['’]s (?:late|raining|snowing|so hot|freezing)|i(?:['’]m| am) (?:so |really |a bit |very )?(?:tired|hungry|starving|freezing|exhausted|knackered|bored)|forgetting things|need (?:a )?(?:coffee|nap))/iu;
/** Not where it says more: "the baby is on antibiotics until 4 May". */
export const isMoment = (sentence: string): boolean =>
  MOMENT.test(sentence) && !/\d{2,}(?! ?(?:%|percent))/.test(sentence);

/** A memory told in passing. */
const ANECDOTE =
  /\b(?:last time|when i was|since i was|long story|story about|as a (?:child|kid)|remember when|used to|l'année dernière|l'an dernier|quand j'étais|letztes (?:mal|jahr)|als ich|la última vez|el año pasado|l'ultima volta|l'anno scorso|vorig jaar)(?![\p{L}'’-])/iu;
const UNSURE =
  /\b(?:i think|i guess|i suppose|not sure|no idea|dunno|apparently|supposedly|don't know|don't remember|can't remember|je ne sais|sais plus|je crois|ich glaube|weiß nicht|creo que|no sé|credo|non so|ik denk|weet niet|acho que|não sei)(?![\p{L}'’-])/iu;

/** Obligations, limits, preferences, choices and results. */
const MATTERS =
  /\b(?:decid\w+|decision|agreed?|chose|chosen|settled|approved|rejected|confirmed|(?:go|going|went) with|instead|root cause|caused?|because|turns? out|fixed|solved|deadline|due|must|has to|have to|had to|needs?|needed|only|never|always|no more than|at (?:least|most)|max(?:imum)?|min(?:imum)?|except|until|allergic|allergy|prefers?|preference|favou?rite|hates?|can't stand|insists?|requires?|required|refuses?|forbidden|not allowed|rule|policy|rather|keep|called|owns?|signs?|promised|booked|ordered|doit|doivent|il faut|jamais|toujours|uniquement|seulement|interdit\w*|obligatoire\w*|surtout pas|muss|müssen|darf|immer|nie|niemals|spätestens|höchstens|mindestens|nur|debe|deben|siempre|nunca|solo|sólo|como máximo|deve|devono|sempre|mai|soltanto|moet|moeten|altijd|nooit|alleen|sempre|nunca|apenas)(?![\p{L}'’-])|\b(?:can|don|won|isn|aren|doesn|shouldn|couldn|wouldn|didn)['’]t\b|\b(?:not|no|ne|pas|nicht|kein\w*)\b/iu;

/** What an assistant offers and nobody has taken up. */
const SUGGESTION =
  /\b(?:i'd|i would|i propose|i suggest|i recommend|you could|you can|you might|we could|could also|shall we|consider|how about|options?|alternatively|or else|let's|vous pouvez|le plus simple|on pourrait|je propose|je suggère|je recommande|ich würde|ich schlage|du könntest|sie könnten|podrías|propongo|sugiero|recomiendo|potresti|suggerisco|je zou|ik stel)(?![\p{L}'’-])/iu;
export const suggests = (sentence: string): boolean => SUGGESTION.test(sentence);

/** Informs rather than proposes: "You can pay by card." */
const INFORMS =
  /^(?:(?:and|also|or|then|there),? )*(?:you|they|we|one|people|guests|users|customers|[\p{L}]+s) (?:can|might)(?![\p{L}])|\boptions? (?:is|are|in)\b/iu;
/** What becomes a decision where somebody agrees. */
export const proposes = (sentence: string): boolean => suggests(sentence) && !INFORMS.test(sentence);

/** What an assistant is about to do itself. */
const SERVICE =
  /^(?:then |so )?(?:i'll|i will|i can|let me|should i|shall i|do you want me|happy to|je peux|je vais|je vous prépare|je l'ajoute|ich kann|ich werde|puedo|voy a|posso|ik kan|ik zal)(?![\p{L}])/iu;
export const serves = (sentence: string): boolean => SERVICE.test(sentence);

/** A task that an assistant does at once. */
const ERRAND =
  /^(?:draft|write|prepare|summari[sz]e|list|sketch|outline|explain|look|check|search|show|repeat|go|continue|help|read|translate|format|stat)(?![\p{L}])/iu;
export const isErrand = (decided: string): boolean => ERRAND.test(decided);

/** Courtesies and farewells: "let me know", "I'm off to lunch". */
const FAREWELL =
  /^(?:i hope (?:this|that|it) helps|let me know|feel free|how (?:can|may) i help|is there anything|don['’]t hesitate|n['’]hésitez pas|melde dich|melden sie sich|no dudes|non esitare|aarzel niet|(?:and |ok |thanks,? )?(?:i'm|i am|we're|we are|im) off(?! (?:on|from|work|the|until|till|for|next|between)\b)|i need (?:a |some )?(?:coffee|tea|break|drink|nap|beer|lunch|food)|(?:see|talk to|speak to) you|talk (?:soon|later)|enjoy (?:the|your)|have (?:a|fun)|good luck|take care|à (?:bientôt|demain|plus)|bis (?:bald|morgen|später|dann)|hasta (?:luego|mañana)|a presto|a domani|tot (?:ziens|morgen)|até (?:logo|amanhã))(?![\p{L}])/iu;
export const isCourtesy = (sentence: string): boolean => FAREWELL.test(sentence);

/** "I'd propose", "How about": the lead of a proposal, which a decision does not need. */
const PROPOSING =
  /^(?:then |so |in that case,? )?(?:i'd|i would|i) (?:suggest|propose|recommend|go (?:with|for)|say)(?: that)? |^(?:how|what) about |^you could |^let's (?:say )?|^(?:shall|should) (?:i|we) |^why not |^je (?:propose|suggère|recommande) |^ich schlage vor,? |^propongo |^ik stel voor /i;
export const withoutProposing = (sentence: string): string =>
  sentence.replace(PROPOSING, '').replace(/^ich würde (.+) (?:vorschlagen|empfehlen)(?=[.!]?$)/iu, '$1');

const QUESTION = /[?？؟\u037e]["'”’»)\]\s]*\p{Extended_Pictographic}*$/u;
export const isQuestion = (sentence: string): boolean => QUESTION.test(sentence);

/** How much of what a clause says is to be taken as said; in what follows in its sentence as well. */
export function earnestness(clause: string): number {
  let weight = 1;
  if (isQuestion(clause)) weight *= 0.3;
  if (MUSING.test(clause)) weight *= 0.3;
  if (ANECDOTE.test(clause)) weight *= 0.5;
  if (UNSURE.test(clause)) weight *= 0.6;
  if (isMoment(clause)) weight *= 0.15;
  return weight;
}

/** "No swearing", "never on Fridays". */
const FORBIDS =
  /^(?:(?:and|but|also|absolutely|definitely) )?(?:no (?!idea|problem|doubt|worries|rush|one|hurry|he|she|it|we|they|i|you|that|this)|never |nothing |under no circumstances|don['’]t |do not |kein\p{L}* |nie(?:mals)? |auf keinen fall|nichts |jamais |aucun|pas de |surtout pas|nunca |ning[uú]n|nada de |mai |nessun|niente |geen |nooit )/iu;

/** Obligations, limits, preferences and choices weigh more. */
export function importance(clause: string): number {
  if (FORBIDS.test(clause)) return 1.6;
  return MATTERS.test(clause) ? 1.3 : 1;
}
