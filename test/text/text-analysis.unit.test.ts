/** Which terms texts of many scripts are found by, and that no text is too long or too odd. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_FREQUENCY, searchTextOf, textFlags } from '#cairn/text/search-text.js';
import { stem } from '#cairn/text/stem.js';
import { analyse, MAX_TERMS, wordsOf } from '#cairn/text/text-analysis.js';

describe('the terms of a text', () => {
  it.each<[string, string[]]>([
    ['The gardener planted roses, and the roses grew.', ['garden', 'plant', 'rose', 'rose', 'grow']],
    ["She'll say it's Nadia's kettle; they don't mind.", ['sai', 'nadia', 'kettl', 'mind']],
    ['She will be ill; we wed in June', ['ill', 'wed', 'june']],
    ["O'Hara's l'école", ['hara', 'ohara', 'ecol']],
    ['Crème brûlée in Łódź, Straße', ['creme', 'brule', 'lodz', 'strass']],
    ['ﬁne ＦＵＬＬ ①', ['fine', 'full', '1']],
    ['loadUserCard', ['load', 'user', 'card', 'loadusercard']],
    ['HTTPServer2', ['http', 'server', 'httpserver2']],
    ['max_retry_ms', ['maximum', 'retri', 'ms', 'maxretrym']],
    ['12 eggs at 4.50', ['12', 'egg', '4', '50']],
    ['8,000 pods, 1,250,000 in all', ['8000', 'pod', '1250000']],
    ['k8s', ['kubernet']],
    ['Kubernetes', ['kubernet']],
    ['the JS repo, its DB and env', ['javascript', 'repositor', 'databas', 'environ']],
    ['an e-mail', ['e', 'email', 'mail']],
    ['deploy deployment deployed', ['deplo', 'deplo', 'deplo']],
    ['allergic to allergies', ['allerg', 'allerg']],
    ['decided on the decision', ['decid', 'decid']],
    ['pay a payment', ['pai', 'pai']],
    ['colour color, organise organize, centre center', ['color', 'color', 'organ', 'organ', 'center', 'center']],
    ['travelling traveling', ['travel', 'travel']],
    ['promise advise exercise', ['promis', 'advis', 'exercis']],
    ['🎉 party 🎉', ['🎉', 'parti', '🎉']],
    ['北京', ['北', '北京', '京']],
    ['猫', ['猫']],
    ['コーヒー', ['コー', 'ーヒ', 'ヒー']],
    ['커피 주세요', ['커피', '주세', '세요']],
    ['กาแฟ', ['กา', 'าแ', 'แฟ']],
    ['GPUで学習', ['gpu', 'で学', '学', '学習', '習']],
    ['مَدْرَسَة', ['مدرسة']],
    ['שָׁלוֹם', ['שלום']],
    ['Μαΐου ΛΟΓΟΣ', ['μαιου', 'λογοσ']],
    ['Ёлка йод', ['елка', 'иод']],
    ['हिन्दी', ['हिन्दी']],
    ['what is it', []],
    ['', []],
  ])('of %j', (text, terms) => {
    expect(analyse(text)).toEqual(terms);
  });

  it.each([
    ['bought', 'buying'],
    ['went', 'goes'],
    ['lives', 'live'],
    ['children', 'child'],
    ['educated', 'education'],
    ['hopping', 'hopped'],
    ['happiness', 'happy'],
    ['relational', 'relate'],
    ['studies', 'study'],
  ])('%s and %s are one', (a, b) => {
    expect(analyse(a)).toEqual(analyse(b));
  });

  it.each([
    ['caresses', 'caress'],
    ['ponies', 'poni'],
    ['agreed', 'agre'],
    ['plastered', 'plaster'],
    ['motoring', 'motor'],
    ['conflated', 'conflat'],
    ['sized', 'size'],
    ['falling', 'fall'],
    ['filing', 'file'],
    ['sky', 'sky'],
    ['vietnamization', 'vietnam'],
    ['electricity', 'electr'],
    ['adoption', 'adopt'],
    ['adjustment', 'adjust'],
    ['controlling', 'control'],
    ['rate', 'rate'],
    ['cease', 'ceas'],
    ['a1b2', 'a1b2'],
    ['über', 'über'],
  ])('the stem of %s is %s', (word, stemmed) => {
    expect(stem(word)).toBe(stemmed);
  });

  it('are no more than fit, and of an endless word its beginning', () => {
    expect(analyse('pear '.repeat(MAX_TERMS + 10))).toHaveLength(MAX_TERMS);
    expect(analyse('語'.repeat(3 * MAX_TERMS))).toHaveLength(MAX_TERMS);
    expect(analyse('x'.repeat(500_000))).toEqual(['x'.repeat(64)]);
    expect(wordsOf("a'".repeat(200_000)).every((word) => word.length <= 64)).toBe(true);
  });

  it('come of any text, none empty and none too long', () => {
    expect(analyse('\ufe70\u{10107}')).toEqual(['\u{10107}', '\u{10107}']);
    const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(texts, (text) => {
        expect(analyse(text).every((term) => term !== '' && term.length <= 2 * 64)).toBe(true);
      }),
    );
  });
});

describe('what is kept of a text', () => {
  it('is of its content, speaker, caption and date', () => {
    const kept = searchTextOf({
      content: 'Look at my kites',
      speaker: 'Odile Brun',
      caption: 'a red kite',
      occurred_at: Date.UTC(2021, 4, 9, 23),
    });
    expect([...kept.frequencies]).toEqual([
      ['9', 1],
      ['mai', 1],
      ['2021', 1],
      ['odil', 1],
      ['brun', 1],
      ['look', 1],
      ['kite', 2],
      ['red', 1],
    ]);
    expect(kept.length).toBe(9);
  });

  it('has no role for a name', () => {
    expect([...searchTextOf({ content: 'Kites', speaker: 'Assistant' }).frequencies.keys()]).toEqual(['kite']);
  });

  it('counts a term up to a limit, and the length beyond it', () => {
    const kept = searchTextOf({ content: 'drum '.repeat(40) });
    expect(kept.frequencies.get('drum')).toBe(MAX_FREQUENCY);
    expect(kept.length).toBe(40);
  });

  it.each<[string, (keyof typeof textFlags)[]]>([
    ['Do you like figs?', ['SHORT_QUESTION', 'QUESTION']],
    [`Do you like ${'figs and dates and olives and '.repeat(6)} bread?`, ['QUESTION']],
    ['好きですか？', ['SHORT_QUESTION', 'QUESTION']],
    ['Why? I like figs', []],
    ['We moved last week', ['TEMPORAL']],
    ['we flew to Lisbon', ['NAMED']],
    ['then I slept', []],
    ['Always answer in metric units.', ['INSTRUCTION']],
    ['Thanks. Never use tabs', ['INSTRUCTION']],
    ['Always a pleasure!', []],
    ['from now on call me Bo', ['INSTRUCTION', 'NAMED']],
    ['I would rather walk', ['PREFERENCE']],
    ['I’d prefer tea', ['PREFERENCE']],
    ['it was rather cold', []],
  ])('says of %j: %j', (content, flags) => {
    const expected = flags.reduce((all, flag) => all | textFlags[flag], 0);
    expect(searchTextOf({ content }).flags).toBe(expected);
  });
});
