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
const SOFT = /^(?:(?:ok(?:ay)?|oh|ah|ooh|hm+|well|so|and|also|btw|fyi|yeah|yes|wait|haha+|lol|oui|ja|sí|sì)\s*)+$/i;

/** The speaker agrees with what was proposed just before. */
const AGREEMENT =
  /^(?:(?:oh |hm+,? |ooh+ |yeah |yes,? |yep |ok(?:ay)?,? |haha,? )*(?:do (?:that|it|so)|let's do (?:that|it|so)|go (?:for it|ahead|with (?:that|it))|agreed|deal|love (?:it|that)|good (?:idea|plan|call)|great idea|sounds? (?:good|great|right|fine|perfect)|works for me|perfect|fair(?: enough)?|fine|you're right|exactly|good|great|nice|yes|yep|ok(?:ay)?|sure|please(?: do)?|that works|i like (?:it|that)|book it|put exactly that)(?![\p{L}'’-])|(?:ok(?:ay)?,? )?(?:parfait|d'accord|on fait (?:comme )?ça|ça marche|très bien|bonne idée|super|oui|einverstanden|machen wir(?: so)?|abgemacht|gute idee|passt|gerne?|ja|genau|de acuerdo|hagámoslo|buena idea|vale|perfecto|sí|d'accordo|facciamo così|va bene|perfetto|sì|akkoord|doen we|goed idee|prima|ja|combinado|boa ideia|sim|fechado)(?![\p{L}'’-])|.{1,40}? it is(?![\p{L}'’-]))/iu;
export const agrees = (turn: string): boolean => AGREEMENT.test(turn.trimStart());

const REFUSAL =
  /^(?:(?:yeah|oh|hm+|well|um),? )?(?:no(?! problem)|nah|nope|skip|rather not|not really|don't|never mind|non|nein|lieber nicht|nee|não)(?![\p{L}'’-])/iu;
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
export const muses = (turn: string): boolean => MUSING.test(turn) || /\bhaha|\blol\b/i.test(turn);

/** "Lovely idea!" */
export const isExclamation = (sentence: string): boolean => /^[^\d]{1,40}!$/.test(sentence);

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

/** What an assistant is about to do itself. */
const SERVICE =
  /^(?:then |so )?(?:i'll|i will|i can|let me|should i|shall i|do you want me|happy to|je peux|je vais|je vous prépare|je l'ajoute|ich kann|ich werde|puedo|voy a|posso|ik kan|ik zal)(?![\p{L}])/iu;
export const serves = (sentence: string): boolean => SERVICE.test(sentence);

/** Courtesies and farewells: "let me know", "I'm off to lunch". */
const FAREWELL =
  /^(?:i hope (?:this|that|it) helps|let me know|feel free|how (?:can|may) i help|is there anything|don['’]t hesitate|n['’]hésitez pas|melde dich|melden sie sich|no dudes|non esitare|aarzel niet|(?:and |ok |thanks,? )?(?:i'm|i am|we're|we are|im) off(?! (?:on|from|work|the|until|till|for|next|between)\b)|i need (?:a |some )?(?:coffee|tea|break|drink|nap|beer|lunch|food)|(?:see|talk to|speak to) you|talk (?:soon|later)|enjoy (?:the|your)|have (?:a|fun)|good luck|take care|à (?:bientôt|demain|plus)|bis (?:bald|morgen|später|dann)|hasta (?:luego|mañana)|a presto|a domani|tot (?:ziens|morgen)|até (?:logo|amanhã))(?![\p{L}])/iu;
export const isCourtesy = (sentence: string): boolean => FAREWELL.test(sentence);

/** "I'd propose", "How about": the lead of a proposal, which a decision does not need. */
const PROPOSING =
  /^(?:then |so |in that case,? )?(?:i'd|i would|i) (?:suggest|propose|recommend|go (?:with|for)|say)(?: that)? |^(?:how|what) about |^you could |^let's (?:say )?|^(?:shall|should) (?:i|we) |^why not |^je (?:propose|suggère|recommande) |^ich schlage vor,? |^propongo |^ik stel voor /i;
export const withoutProposing = (sentence: string): string => sentence.replace(PROPOSING, '');

const QUESTION = /[?？؟\u037e]["'”’»)\]\s]*\p{Extended_Pictographic}*$/u;
export const isQuestion = (sentence: string): boolean => QUESTION.test(sentence);

/** How much of what a clause says is to be taken as said; in what follows in its sentence as well. */
export function earnestness(clause: string): number {
  let weight = 1;
  if (isQuestion(clause)) weight *= 0.3;
  if (MUSING.test(clause)) weight *= 0.35;
  if (ANECDOTE.test(clause)) weight *= 0.5;
  if (UNSURE.test(clause)) weight *= 0.6;
  return weight;
}

/** Obligations, limits, preferences and choices weigh more. */
export const importance = (clause: string): number => (MATTERS.test(clause) ? 1.3 : 1);
