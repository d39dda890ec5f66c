/** A question or a proposal of an assistant, what the user replies, and the fact that both state together, if any. */

export type Exchange = readonly [asked: string, replied: string, fact?: string];

export const exchanges: readonly Exchange[] = [
  [
    'Which languages should the site support?',
    'English, German, Dutch.',
    'Languages, site support: English, German, Dutch.',
  ],
  ["What's the pool size?", '25 per pod', 'Pool size: 25 per pod.'],
  ['What severity should I put?', 'sev2', 'Severity: sev2.'],
  ['Understood. Which domain is it?', 'ok, harbour-cats.example', 'Domain: harbour-cats.example.'],
  ['With how many replicas?', 'six, in Frankfurt', 'Replicas: six, in Frankfurt.'],
  ['What is your budget?', '£3,200 all in', 'Budget: £3,200 all in.'],
  ['Who reviews the chart?', 'Wendy Ho', 'Reviews chart: Wendy Ho.'],
  [
    'Which citation style do you need?',
    'Harvard, the Leicester variant',
    'Citation style: Harvard, the Leicester variant.',
  ],
  ['What colour should the tiles be?', 'sage green', 'Colour, tiles: sage green.'],
  ['When is the launch?', '4 May', 'Launch: 4 May.'],
  ["What's the address of the office?", 'Kanaalstraat 14, Utrecht', 'Address office: Kanaalstraat 14, Utrecht.'],
  ['How many drivers speak Spanish?', 'about 60 percent', 'Drivers speak Spanish: about 60 percent.'],
  ['Combien de signaleurs sont prévus ?', 'quatre, avec permis', 'Signaleurs prévus: quatre, avec permis.'],
  ['Welche Sprachen spricht das Team?', 'Deutsch und Polnisch', 'Sprachen spricht Team: Deutsch und Polnisch.'],
  ["For the payments I'd suggest Mollie.", 'Mollie it is', "Decided: For the payments I'd suggest Mollie."],
  ["I'd propose Monday 25 May, 9:00.", 'good, do that', 'Decided: Monday 25 May, 9:00.'],
  ["I'd recommend PostgreSQL 16 with daily backups.", 'agreed', 'Decided: PostgreSQL 16 with daily backups.'],
  [
    'How about the hotel Lindner for two nights? I would book it under Acme.',
    'ok do that',
    'Decided: I would book it under Acme.',
  ],
  ['Je propose le PPS ou une licence.', 'Parfait, on fait comme ça.', 'Decided: le PPS ou une licence.'],
  // An answer that says nothing, or stands for itself.
  ['Which database do you use?', 'no idea'],
  ['Which database do you use?', 'maybe Oracle?'],
  ['Which database do you use?', 'that one'],
  ['Which one?', 'the same as before'],
  ['What do you think?', 'sounds great, thanks!'],
  ['How can I help?', 'hi there'],
  ['What is the plan, and who is in charge?', 'Anna, on Monday'],
  ['Is the database running?', 'yes'],
  ['What is the limit?', 'I think it was 40'],
  ['When do you want the reminder?', 'what if we skipped it?'],
  ['What should I do next?', 'let me know'],
  // Proposals that nobody takes up, and what an assistant does itself.
  ["I'd suggest Mollie for the payments.", 'no, skip that'],
  ["I'd suggest Mollie for the payments.", 'hm, how much is Stripe?'],
  ["I'd suggest Mollie for the payments.", 'The deadline moved.'],
  ["I'll send the summary to Anna tonight.", 'great'],
  ['Let me look at node 4.', 'ok'],
  ['Could he use gRPC in place of webhooks?', "no, they don't offer it"],
  ['You could consider a shorter one.', 'good'],
];
