/** English stop words. */
const WORDS = `
a about above after again against all also am an and any are as at be because been before being below between both
but by can could did do does doing down during each few for from further had has have having he her here hers herself
him himself his how i if in into is it its itself just let me more most my myself no nor not now of off on once only or
other our ours ourselves out over own same she should so some such than that the their theirs them themselves then
there these they this those through to too under until up very was we were what when where which while who whom whose
why will with would you your yours yourself yourselves might must shall
im ive youre youve youd youll hes shes theyre theyve theyd theyll weve thats whats whos heres theres lets
isnt arent wasnt werent dont doesnt didnt hasnt havent hadnt cant couldnt wont wouldnt shouldnt mustnt neednt aint
`;

export const stopWords: ReadonlySet<string> = new Set(WORDS.split(/\s+/).filter((word) => word !== ''));
