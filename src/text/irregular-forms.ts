/** Irregular forms of English words. */
const FORMS = `
become: became; begin: began begun; bite: bit bitten; blow: blew blown; break: broke broken; bring: brought;
build: built; buy: bought; catch: caught; choose: chose chosen; come: came; deal: dealt; dig: dug; draw: drew drawn;
dream: dreamt; drink: drank drunk; drive: drove driven; eat: ate eaten; fall: fell fallen; feed: fed; feel: felt;
fight: fought; find: found; fly: flew flown; forget: forgot forgotten; forgive: forgave forgiven; freeze: froze frozen;
get: got gotten; give: gave given; go: went gone goes; grow: grew grown; hang: hung; hear: heard; hide: hid hidden;
hold: held; keep: kept; know: knew known; lay: laid; lead: led; learn: learnt; leave: left; lend: lent; lose: lost;
make: made; mean: meant; meet: met; overcome: overcame; pay: paid; prove: proven; ride: rode ridden; ring: rang rung;
rise: rose risen; run: ran; say: said; see: saw seen; seek: sought; sell: sold; send: sent; sew: sewn;
shake: shook shaken; shine: shone; shoot: shot; show: shown; shrink: shrank shrunk; sing: sang sung; sink: sank sunk;
sit: sat; sleep: slept; slide: slid; speak: spoke spoken; spend: spent; spin: spun; stand: stood; steal: stole stolen;
stick: stuck; strike: struck; swear: swore sworn; sweep: swept; swim: swam swum; take: took taken; teach: taught;
tear: tore torn; tell: told; think: thought; throw: threw thrown; undergo: underwent undergone;
understand: understood; wake: woke woken; wear: wore worn; weave: wove woven; win: won; withdraw: withdrew withdrawn;
write: wrote written;
child: children; man: men; woman: women; person: people; foot: feet; tooth: teeth; mouse: mice; goose: geese;
wife: wives; knife: knives; leaf: leaves; half: halves; wolf: wolves; shelf: shelves; loaf: loaves;
thief: thieves; good: better best; bad: worse worst; far: further farther
`;

/** From a form to its word. */
export const irregularForms: ReadonlyMap<string, string> = new Map(
  FORMS.split(';').flatMap((entry) => {
    const [word, ...forms] = entry.match(/\w+/g)!;
    return forms.map((form) => [form, word!] as const);
  }),
);
