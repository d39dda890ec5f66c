/** What other modules may use of text. */
export { dayMeant, tenseOfAction, tenseOfEvent } from './day-direction.js';
export { conjugated, inThirdPerson, namingSpeaker, possessive, subjectName } from './first-person.js';
export {
  type Meaning,
  meaningOf,
  meaningOfWords,
  nearestWords,
  rarityOf,
  salienceOf,
  similarityOf,
  vectorIdOf,
  wordSimilarities,
} from './meaning.js';
export { type NamedDay, namedDay } from './named-days.js';
export { MONTHS, parseDate } from './parse-date.js';
export { type DateMention, dateMentions, isWithin, relativeMentions } from './question-dates.js';
export { isRole, MAX_FREQUENCY, searchTextOf, textFlags } from './search-text.js';
export { sentencesOf, unitsOf } from './sentences.js';
export { baseForm, isInflected, ownCopy, stem } from './stem.js';
export { stopWords } from './stop-words.js';
export { analyse, contentWords, fold, scriptRuns, WORD, wordsOf } from './text-analysis.js';
export { type Block, blocksOf, FENCE } from './text-blocks.js';
export { charactersWithin, countTokens, LONGEST_TOKEN, rankOf } from './tokenizer.js';
export { dot } from './word-vectors.js';
