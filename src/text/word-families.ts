/** One form for the spellings and derivations of a word, beyond what Porter's algorithm unites. */

/** From a derived word to the word it comes from. */
const DERIVED = `
achieve: achievement; advise: advice; agree: agreement disagreement; analyze: analysis analyses; appear: appearance;
apply: application; arrive: arrival; assist: assistance; bake: baker bakery; begin: beginner; behave: behavior;
believe: belief; bury: burial; choose: choice; compare: comparison; complain: complaint; dance: dancer; decide: decision;
deep: depth; deliver: delivery; deploy: deployment; describe: description; destroy: destruction; die: death dead;
discover: discovery; divide: division; drive: driver; employ: employment employer employee; enter: entry entrance;
equip: equipment; explain: explanation; explode: explosion; fail: failure; fly: flight; grow: growth; hate: hatred;
high: height; impress: impression; invade: invasion; judge: judgment judgement; know: knowledge; lead: leader;
long: length; lose: loss; marry: marriage; mix: mixture; move: movement; paint: painter; pay: payment repayment;
permit: permission; please: pleasure; press: pressure; produce: production; pronounce: pronunciation; prove: proof;
punish: punishment; receive: reception receipt; recover: recovery; recruit: recruitment; reduce: reduction; rent: rental;
repeat: repetition; resolve: resolution; retire: retirement; revise: revision; rob: robbery; run: runner; sell: sale seller;
sharp: sharpen; ship: shipment; short: shorten; sign: signature; sing: singer; solve: solution; speak: speech;
store: storage; strong: strength; subscribe: subscription; succeed: success; swim: swimmer; teach: teacher; think: thought;
translate: translator; treat: treatment; true: truth; warm: warmth; weak: weaken; weigh: weight; wide: width; write: writer;
young: youth; allergy: allergic; anger: angry; curious: curiosity; poor: poverty; proud: pride; hungry: hunger;
thirsty: thirst; religion: religious; music: musician; science: scientist; art: artist; sun: sunny; rain: rainy
`;

const derived: ReadonlyMap<string, string> = new Map(
  DERIVED.trim()
    .split(';')
    .flatMap((entry) => {
      const [word, forms] = entry.trim().split(': ') as [string, string];
      return forms.split(' ').flatMap((form): (readonly [string, string])[] => [
        [form, word],
        [`${form}s`, word],
      ]);
    }),
);

/** British words in -our whose American form is in -or; others, such as "hour" and "four", are not. */
const OUR =
  /^(arb|ard|behavi|cand|clam|col|discol|enam|endeav|fav|ferv|flav|glam|harb|hon|dishon|hum|lab|neighb|od|parl|ranc|rig|rum|sav|spl|tum|val|vap|vig)our(s|ed|ing|s|able|ite|ites|less|ful|er|ers|hood|hoods|ly)?$/;
const SINGLE_L =
  /^(cancel|travel|model|label|level|fuel|signal|total|counsel|dial|marvel|panel|pedal|quarrel|shovel|spiral|tunnel|jewel|channel)l(ed|ing|er|ers|ery)$/;
const WORDS: ReadonlyMap<string, string> = new Map(
  (
    'grey:gray tyre:tire tyres:tires cheque:check cheques:checks plough:plow programme:program programmes:programs ' +
    'jewellery:jewelry licence:license licences:licenses defence:defense offence:offense pyjamas:pajamas aluminium:aluminum ' +
    'mould:mold moustache:mustache sceptical:skeptical storey:story kerb:curb draught:draft catalogue:catalog ' +
    'dialogue:dialog analogue:analog enrol:enroll fulfil:fulfill skilful:skillful doughnut:donut doughnuts:donuts ' +
    'practise:practice practised:practiced practising:practicing ageing:aging maths:math paediatric:pediatric ' +
    'paediatrician:pediatrician anaesthetic:anesthetic diarrhoea:diarrhea oestrogen:estrogen foetus:fetus ' +
    'colour:color manoeuvre:maneuver whisky:whiskey yoghurt:yogurt learnt:learned burnt:burned'
  )
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);
/** Words in -ise, -yse and -re that are so in both spellings. */
const KEPT =
  /^(?:(?:adv|conc|dev|disgu|exc|exerc|ex|expert|franch|improv|prec|pra|prem|prom|rev|superv|surpr|telev|likew|otherw|w|r|no|po|ra|ch?a|cru|br?u|tort|porp|merchand|compr|surm|adverti|enterpr|desp|dem|incis|circumc)is)(?:e|es|ed|ing|er|ers)?$/;
const ISE = /^([a-z]{3,})(?:is(e|es|ed|ing|er|ers|ation|ations)|ys(e|es|ed|ing|er|ers))$/;
const TRE = /^(cent|met|lit|theat|fib|calib|lust|spect|kilomet|centimet|millimet|millilit|somb|meag|sab)re(s|d)?$/;

function american(word: string): string {
  const known = WORDS.get(word);
  if (known !== undefined) return known;
  const our = OUR.exec(word);
  if (our) return `${our[1]}or${our[2] ?? ''}`;
  const single = SINGLE_L.exec(word);
  if (single) return `${single[1]}${single[2]}`;
  const tre = TRE.exec(word);
  if (tre) return `${tre[1]}er${tre[2] ?? ''}`;
  const ise = KEPT.test(word) ? null : ISE.exec(word);
  if (ise) return ise[2] === undefined ? `${ise[1]}yz${ise[3]}` : `${ise[1]}iz${ise[2]}`;
  return word;
}

/** The American spelling of the word that a lower-case word is derived from. */
export function familyOf(word: string): string {
  const spelled = american(word);
  return derived.get(spelled) ?? spelled;
}
