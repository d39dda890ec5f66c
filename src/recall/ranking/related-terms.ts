/** Everyday words by kind: a question about pets also concerns dogs. */
import { stem } from '../../text/index.js';

/** Weight of a related term, with 1 for the term itself. */
export const RELATED_WEIGHT = 0.15;

const KINDS = `
accomplish: achieve finish win; achievement: award promote proud win; activity: game hobby sport trip
animal: bird cat dog fish horse; art: draw gallery paint sculpture sketch; beverage: beer coffee juice tea wine
book: author novel read story; budget: cost money save spend; career: job profession work
celebrate: anniversary birthday party; city: downtown neighborhood town; clothes: dress jacket jeans shirt shoe
colleague: boss coworker manager team; collect: collection; community: group local neighborhood
competition: contest match race tournament; computer: laptop pc software; country: abroad nation visa
create: build design make; cuisine: chinese french indian italian japanese mexican thai
database: mysql postgres sql sqlite; death: die funeral pass; dessert: cake chocolate cookie pie
diet: eat healthy vegan vegetarian; dish: chicken cook curry pasta recipe rice salad soup
drink: beer coffee juice tea wine; educate: college degree school teach; emotion: angry anxious excited happy sad
environment: climate nature recycle; error: bug crash exception fail; event: concert conference festival party
exercise: gym jog run swim workout yoga; family: aunt brother cousin daughter father mother parent sister son uncle
fear: afraid anxious scared; film: cinema movie watch; financial: budget income money save
food: bread chicken cook dish eat pasta pizza rice salad soup; furniture: bed chair couch desk table
game: console play video; genre: comedy drama fantasy horror mystery romance; gift: birthday present
goal: achieve aim dream hope plan; health: doctor hospital medicine sick; hobby: collect draw garden hike knit paint photography play read
holiday: christmas easter halloween thanksgiving vacation; home: apartment house; housework: clean dishes laundry vacuum
illness: cold doctor fever flu sick; injury: ankle broken hurt knee sprain; inspire: encourage motivate
instrument: drum flute guitar piano saxophone violin; job: hire interview office work; learn: class lesson study
live: apartment city house; meal: breakfast cook dinner eat lunch; medication: dose medicine pill
motivate: encourage inspire; movie: cinema film watch; music: album band concert listen song
nervous: anxious worried; outdoors: camp hike nature park trail; perform: concert show stage
pet: bird cat dog fish hamster kitten puppy; political: election government vote; practice: rehearse train
programming: code javascript python; profession: doctor engineer job lawyer nurse teacher work
purchase: buy order; relationship: boyfriend date girlfriend marry partner; relative: aunt cousin grandma grandpa uncle
relax: bath calm unwind yoga; religious: church faith god pray; relocate: move; repair: fix
residence: apartment house live; season: autumn fall spring summer winter; shop: buy mall store
show: episode series watch; sibling: brother sister; skill: learn practice; sleep: bed nap tired
spiritual: church faith god pray; spouse: husband wife; sport: baseball basketball football golf hockey run soccer swim tennis volleyball
stress: anxious overwhelm pressure; student: class college university; study: class college course major university
subject: biology chemistry english history math physics; support: encourage help; teach: class lesson
technology: app computer phone software; tired: exhausted sleep; travel: abroad flight trip vacation visit
trip: flight travel vacation visit; vacation: beach flight hotel travel trip; vehicle: bike car motorcycle truck van
visit: travel trip; volunteer: charity community shelter; weather: cold hot rain snow sun; weight: diet exercise
win: champion trophy victory
`;

const related: ReadonlyMap<string, readonly string[]> = new Map(
  KINDS.trim()
    .split(/;|\n/)
    .map((entry) => {
      const [kind, words] = entry.trim().split(': ') as [string, string];
      return [stem(kind), words.split(' ').map(stem)] as const;
    }),
);

/** The terms of the kind that a term names. */
export const relatedTerms = (term: string): readonly string[] => related.get(term) ?? [];
