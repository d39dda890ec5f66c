/** Pairs of statements with the outcome of remembering the second when the first is known. */

export type Outcome = 'added' | 'strengthened' | 'superseded' | 'contradictory';

export interface Pair {
  readonly known: string;
  readonly told: string;
  readonly outcome: Outcome;
  /** The former value that marks show. */
  readonly before?: string;
  readonly speakers?: readonly [string | null, string | null];
  /** When each happened. */
  readonly at?: readonly [string | null, string | null];
}

type Row = readonly [known: string, told: string, before?: string];

const all = (outcome: Outcome, rows: readonly Row[]): Pair[] =>
  rows.map(([known, told, before]) => ({ known, told, outcome, ...(before === undefined ? {} : { before }) }));

const superseded = all('superseded', [
  // Homes
  ['Lena lives in Hamburg.', 'Lena lives in Munich now.', 'Hamburg'],
  ['Lena lives in Hamburg', 'Lena moved to Munich last month.', 'Hamburg'],
  ['I live in Rome.', 'I moved to Turin in May 2026.', 'Rome'],
  ['I live in Rome.', 'I now live in Milan.', 'Rome'],
  ['Tom Baker is based in Leeds.', 'Tom Baker has relocated to York.', 'Leeds'],
  ['My sister lives in Oslo.', 'My sister moved from Oslo to Bergen.', 'Oslo'],
  ["Anna's brother lives in Lyon.", "Anna's brother lives in Paris now.", 'Lyon'],
  ['As of 2024, Lena lives in Hamburg.', 'Lena is living in Bremen these days.', 'Hamburg'],
  ['Lena lives in Hamburg.', 'Lena no longer lives in Hamburg.', 'Hamburg'],
  ['We live in Ghent.', 'We moved to Antwerp.', 'Ghent'],
  // Jobs
  ['Tom works at Siemens.', 'Tom works at Bosch now.', 'Siemens'],
  ['Tom works for Siemens.', 'Tom left Siemens for Bosch.', 'Siemens'],
  ['I work at Acme.', 'I started working at Globex.', 'Acme'],
  ['I work at Acme.', 'I quit Acme.', 'Acme'],
  ['I work as a nurse.', 'I now work as a midwife teacher.', 'a nurse'],
  ['Mia is a junior developer.', 'Mia was promoted to a senior developer.', 'a junior developer'],
  ['Priya is the team lead.', 'Tom is the team lead now.', 'Priya'],
  ['Ben is the CTO of Acme.', 'Carla became the new CTO of Acme.', 'Ben'],
  ['Kwame owns billing.', 'Yusuf took over billing from Kwame.', 'Kwame'],
  // Names and contact
  ["Anna's phone number is 0171 555 123.", "Anna's new phone number is 0160 999 777.", '0171 555 123'],
  ['My email is anna@old.example.', 'My email address is anna@new.example.', 'anna@old.example'],
  ['My phone number is 555-0101.', 'My phone number changed to 555-0202.', '555-0101'],
  ['The wifi password is tulip42.', 'The wifi password is now daisy77.', 'tulip42'],
  ['The project is called Atlas.', 'The project was renamed to Borealis.', 'Atlas'],
  ['The project is called Atlas.', 'We renamed the project from Atlas to Borealis.', 'Atlas'],
  ['Our landlord is Mr Brown.', 'Our new landlord is Mrs Green.', 'Mr Brown'],
  ['My dentist is Dr. Weber.', 'My new dentist is Dr. Klein.', 'Dr. Weber'],
  ["Lena's last name is Vogel.", "Lena's last name is now Adler.", 'Vogel'],
  ['My address is 12 Elm Street.', 'My new address is 7 Oak Lane.', '12 Elm Street'],
  ['Please call me Max.', 'Call me Maxine.', 'Max'],
  // Attributes, dates and numbers
  ['The deadline is May 1.', 'The deadline moved to May 15.', 'May 1'],
  ['The deadline is May 1.', 'We pushed the deadline back to June 3.', 'May 1'],
  ['The deadline for the thesis is March 3.', 'The thesis deadline was extended to April 1.', 'March 3'],
  ['The launch is on Monday.', 'The launch was postponed to Thursday.', 'Monday'],
  ['Our budget is $4,000.', 'Our budget was raised to $5,500.', '$4,000'],
  ['The summer holiday budget is 1,800.', 'We bumped the summer holiday budget to 2,400.', '1,800'],
  ['My day rate is 420.', 'My day rate is 480 now.', '420'],
  ['The rent is 840 euros.', 'The rent goes up to 912 euros.', '840 euros'],
  ['The meeting is on Tuesday.', 'The meeting has been moved to Wednesday.', 'Tuesday'],
  ['My appointment is on 3 May.', 'My appointment was rescheduled to 10 May.', '3 May'],
  ['The code freeze is on Friday.', 'The code freeze is now on Monday.', 'Friday'],
  [
    'The rate limit is 50 requests per second.',
    'The rate limit was lowered to 20 requests per second.',
    '50 requests per second',
  ],
  ["Lena's goal is to run a marathon.", "Lena's goal is now to finish a triathlon.", 'to run a marathon'],
  ['My weight is 68.4 kg.', 'My weight is 64.9 kg.', '68.4 kg'],
  ['Our flight is at 7:40.', 'Our flight was moved to 9:15.', '7:40'],
  ['The office is in Room 12.', 'The office is now in Room 30.', 'Room 12'],
  ['Goal for Comrades: sub 10 hours.', 'Goal for Comrades: just finish before the cut-off.', 'sub 10 hours'],
  ['My favourite colour is green.', 'My favorite color is blue.', 'green'],
  ["Lena's favourite band is Blur.", "Lena's favourite band is now Pulp.", 'Blur'],
  ['The main branch is master.', 'The main branch is now called main.', 'master'],
  ['Our default region is eu-west-1.', 'Our default region is eu-central-1 now.', 'eu-west-1'],
  ['Our chat tool is Slack.', 'We changed our chat tool to Zulip.', 'Slack'],
  ['The release cadence is two weeks.', 'The release cadence is now monthly.', 'two weeks'],
  // Choices
  ['We chose Postgres over MySQL.', 'We switched from Postgres to CockroachDB.', 'Postgres'],
  ['We chose Postgres over MySQL because the team knows it.', 'We chose MySQL over Postgres after all.', 'Postgres'],
  ['Chose NATS over Kafka for internal events.', 'Gave up on NATS.', 'NATS'],
  ['We use Redis for caching.', 'We now use Valkey for caching.', 'Redis'],
  ['We use Jenkins for CI.', 'We replaced Jenkins with GitHub Actions.', 'Jenkins'],
  ['I use Vim.', 'I switched from Vim to Helix.', 'Vim'],
  ['We use Crashlytics for crash reporting.', 'Switched crash reporting over to Sentry.', 'Crashlytics'],
  ['The core ledger runs on Postgres 14.', 'Upgraded the core ledger to Postgres 16.', 'Postgres 14'],
  ['The API is hosted on Heroku.', 'The API is now hosted on Fly.', 'Heroku'],
  ['The backend is written in Go.', 'The backend is now written in Rust.', 'Go'],
  ['We went with Stripe for payments.', 'We dropped Stripe in favour of Adyen.', 'Stripe'],
  ['We use Mocha for tests.', 'We migrated from Mocha to Vitest.', 'Mocha'],
  ['We use MongoDB.', 'We no longer use MongoDB.', 'MongoDB'],
  ['Anna uses Android.', 'Anna switched from Android to iOS.', 'Android'],
  // Tastes and states
  ['Anna likes coffee.', "Anna doesn't like coffee any more.", 'likes coffee'],
  ['Anna loves oysters.', 'Anna no longer likes oysters.', 'loves oysters'],
  ['I hate olives.', 'I like olives now.', 'hate olives'],
  ['Anna likes coffee.', 'Anna gave up coffee.', 'likes coffee'],
  ['Anna prefers tea to coffee.', 'Anna now prefers coffee to tea.', 'tea'],
  ['I prefer aisle seats.', 'I prefer window seats now.', 'aisle seats'],
  ['I prefer dark mode.', 'I prefer light mode.', 'dark mode'],
  ['Leila is vegan.', 'Leila is vegetarian now.', 'vegan'],
  ['Leila is vegan.', 'Leila is no longer vegan.', 'vegan'],
  ['Ravi is engaged.', 'Ravi got married.', 'engaged'],
  ['Zuri is 9 years old.', 'Zuri turned 10.', '9 years old'],
]);

const strengthened = all('strengthened', [
  ['Lena lives in Hamburg.', 'Lena lives in Hamburg.'],
  ['Lena lives in Hamburg.', 'Lena is living in Hamburg.'],
  ['Lena lives in Hamburg.', 'Lena currently lives in Hamburg.'],
  ['Lena lives in Munich.', 'Lena lives in Munich, Germany.'],
  ['Tom works at Siemens.', 'Tom works for Siemens.'],
  ['The deadline is May 1.', 'Our deadline is May 1st.'],
  ['Our budget is $4,000.', 'The budget is $4000.'],
  ["Anna's phone number is 555-0101.", "Anna's phone is 555-0101."],
  ['Anna likes coffee.', 'Anna loves coffee.'],
  ['We use Redis for caching.', 'We use Redis for caching.'],
  ['Leila is vegan.', 'Leila is a vegan.'],
  ['My favourite colour is green.', 'My favorite color is green.'],
  ['Stir, then wait.', 'Stir, then wait.'],
  ['The boiler is in the cellar.', 'the boiler is in the cellar'],
]);

const contradictory: Pair[] = [
  ...all('contradictory', [
    ['Lena was born in Rome.', 'Lena was born in Oslo.'],
    ["Lena's birthday is May 3.", "Lena's birthday is June 9."],
    ['My blood type is A positive.', 'My blood type is O negative.'],
    ['Lena lives in Hamburg with her two cats.', 'Lena lives in Munich now.'],
    ['The gate is locked at night.', 'The gate is not locked at night.'],
  ]),
  { known: 'Lena lives in Rome.', told: 'Lena lives in Oslo.', outcome: 'contradictory', speakers: ['Anna', 'Ben'] },
  {
    known: 'The deadline is May 1.',
    told: 'The deadline is May 7.',
    outcome: 'contradictory',
    speakers: ['Anna', 'Ben'],
  },
  {
    known: 'Lena lives in Rome.',
    told: 'Lena lives in Oslo.',
    outcome: 'contradictory',
    at: ['2026-03-01', '2026-03-01'],
  },
];

const added: Pair[] = [
  ...all('added', [
    // Other person
    ['Lena lives in Hamburg.', 'Tom lives in Munich now.'],
    ['Lena lives in Hamburg.', "Lena's sister lives in Munich now."],
    ['My sister lives in Oslo.', 'My brother moved to Bergen.'],
    ['I live in Rome.', 'Lena lives in Milan now.'],
    ['Anna Berg lives in Rome.', 'Anna Dahl lives in Oslo now.'],
    ["Anna's phone number is 555-0101.", "Ben's phone number is 555-0202."],
    ['Anna likes coffee.', "Ben doesn't like coffee any more."],
    ['Leila is vegan.', 'Odalys is vegetarian now.'],
    ['Tom works at Siemens.', 'Lena works at Bosch now.'],
    ["Anna's birthday is May 3.", "Ben's birthday is June 9."],
    ['My dentist is Dr. Weber.', "Lena's dentist is Dr. Klein."],
    // Other attribute
    ['Lena lives in Hamburg.', 'Lena works in Munich now.'],
    ['Lena lives in Hamburg.', 'Lena was born in Munich.'],
    ['Lena lives in Hamburg.', 'Lena visited Munich last week.'],
    ["Anna's work phone number is 555-0101.", "Anna's home phone number is 555-0202."],
    ['The deadline is May 1.', 'The launch is May 15.'],
    ['The deadline for the thesis is March 3.', 'The deadline for the grant is April 1.'],
    ['The staging database is Postgres.', 'The production database is MySQL.'],
    ['Our travel budget is $4,000.', 'Our marketing budget is $9,000.'],
    ['We use Redis for caching.', 'We use Postgres for the ledger.'],
    ['We use Redis for caching.', 'We use RabbitMQ for queues now.'],
    ['We chose Postgres over MySQL.', 'We chose Redis over Memcached.'],
    ['The core ledger runs on Postgres 14.', 'The search service runs on OpenSearch 2.'],
    ['The API is written in Go.', 'The API is hosted on Fly.'],
    ['Kwame owns billing.', 'Yusuf took over search from Priya.'],
    ['Priya is the team lead.', 'Tom is the product owner now.'],
    ['My favourite colour is green.', 'My favourite band is Blur.'],
    ['The meeting is on Tuesday.', 'The meeting is in Room 4.'],
    ['Tom works at Siemens.', 'Tom is a careful driver.'],
    ['The wifi password is tulip42.', 'The router password is daisy77.'],
    ['The project is called Atlas.', 'The library is called Borealis.'],
    ['My car is a Skoda.', 'My bike is a Trek.'],
    // Additional values
    ['Anna likes coffee.', 'Anna also likes tea.'],
    ['Anna likes coffee.', 'Anna likes tea.'],
    ['Anna likes coffee.', 'Anna likes tea now.'],
    ['Lena lives in Hamburg.', 'Lena also lives in Berlin.'],
    ['Lena speaks German.', 'Lena speaks Dutch.'],
    ['I am allergic to peanuts.', 'I am allergic to latex.'],
    ['I have two cats.', 'I have a dog.'],
    ['We use Slack.', 'We use Jira.'],
    ['Anna plays the piano.', 'Anna plays tennis now.'],
    ['My favourite dish is ramen.', 'Another favourite dish of mine is paella.'],
    ['Tom works at Siemens.', 'Tom also works at the university.'],
    ['We use TypeScript for the frontend.', 'We also use Elm for the frontend.'],
    ["Anna doesn't eat meat.", "Anna doesn't eat fish."],
    ['Anna hates olives.', 'Anna loves capers.'],
    // Plurals and several at once
    ['The dentist appointment is on May 3.', 'The dentist appointment is on June 7.'],
    ['My flight is on Monday.', 'My flight is on Friday.'],
    ['The meeting is on Tuesday.', 'The meeting is on Thursday.'],
    ['Our interview is at 10:00.', 'Our interview is at 14:00.'],
    ['The meetings are on Tuesdays.', 'A meeting is on Friday.'],
    ['Ran a marathon in May.', 'Ran a marathon in October.'],
    // Hypotheticals, plans, questions and reports
    ['Lena lives in Hamburg.', 'Lena might move to Munich.'],
    ['Lena lives in Hamburg.', 'Lena would love to live in Munich.'],
    ['Lena lives in Hamburg.', 'Does Lena live in Munich now?'],
    ['Lena lives in Hamburg.', 'If Lena lives in Munich, the trip is short.'],
    ['Lena lives in Hamburg.', 'Lena plans to move to Munich next year.'],
    ['Lena lives in Hamburg.', 'Lena is moving to Munich in June.'],
    ['Lena lives in Hamburg.', 'Ben said Lena lives in Munich now.'],
    ['Lena lives in Hamburg.', 'Lena used to live in Munich.'],
    ['Lena lives in Hamburg.', 'Lena lived in Munich as a child.'],
    ['Lena lives in Hamburg.', 'Maybe Lena moved to Munich.'],
    ['Tom works at Siemens.', 'Tom wants to work at Bosch.'],
    ['Tom works at Siemens.', 'Tom is considering a job at Bosch.'],
    ['The deadline is May 1.', 'Should the deadline be May 15?'],
    ['The deadline is May 1.', 'The deadline could move to May 15.'],
    ['We chose Postgres over MySQL.', 'We are thinking of switching from Postgres to MySQL.'],
    ['We use Jenkins for CI.', 'We should replace Jenkins with GitHub Actions.'],
    ['Anna likes coffee.', 'Perhaps Anna no longer likes coffee.'],
    // For a while
    ['Lena lives in Hamburg.', 'Lena lives in Munich for the summer.'],
    ['Lena lives in Hamburg.', 'Lena is staying in Munich this week.'],
    ['Tom works at Siemens.', 'Tom is working at Bosch for two weeks.'],
    ['Lena lives in Hamburg.', 'Lena is in Munich today.'],
    // Not values
    ['The deadline is May 1.', 'The deadline is tight.'],
    ['Our budget is $4,000.', 'Our budget is approved.'],
    ['Tom works at Siemens.', 'Tom works from home.'],
    ['Tom works at Siemens.', 'Tom works hard.'],
    ['Lena lives in Hamburg.', 'Lena moved to tears everybody in the room.'],
    ['Lena lives in Hamburg.', 'Lena lives alone.'],
    ['The office is in Room 12.', 'The office is closed on Fridays.'],
    ['My weight is 68.4 kg.', 'My height is 178 cm.'],
    ['Tom left Siemens.', 'Tom left the meeting early.'],
    ['Tom works at Siemens.', 'Tom left Hamburg for Munich.'],
    ['We moved to Antwerp.', 'We moved to the next topic.'],
    ['We use Redis for caching.', 'We switched the lights to green.'],
    // Other things entirely
    ['The spare key is with the Pattersons.', 'The ladder is with the Pattersons.'],
    ['Boiler pressure must stay above 1.', 'Recycling is collected on Thursdays.'],
    ['Pepper the hamster lives in the kitchen.', 'Noodle the snake lives in the hall.'],
    ['Card numbers must never show up in logs.', 'Session tokens must never show up in logs.'],
    ['Backups run at 02:10.', 'Reindexing runs at 03:10.'],
    ['Tests must run before a merge.', 'Tests must not run on laptops.'],
    ['Anna wrote the importer.', 'Ben wrote the exporter.'],
    ['Call me when it is done.', 'Call me Monday.'],
  ]),
  // Persons as speakers
  { known: 'I live in Rome.', told: 'I live in Oslo now.', outcome: 'added', speakers: ['Anna', 'Ben'] },
  { known: 'My phone is 555-0101.', told: 'My phone is 555-0202.', outcome: 'added', speakers: ['Anna', 'Ben'] },
  {
    known: 'I am allergic to peanuts.',
    told: 'I am allergic to peanuts.',
    outcome: 'added',
    speakers: ['Anna', 'Ben'],
  },
  { known: 'I prefer dark mode.', told: 'I prefer light mode.', outcome: 'added', speakers: ['Anna', null] },
  // Older facts told later
  {
    known: 'Lena lives in Munich.',
    told: 'Lena lives in Hamburg.',
    outcome: 'added',
    at: ['2026-03-01', '2020-01-01'],
  },
  { known: 'Lena lives in Munich.', told: 'Lena moved to Hamburg.', outcome: 'added', at: [null, '2020-01-01'] },
  {
    known: 'The deadline moved to May 15.',
    told: 'The deadline is May 1.',
    outcome: 'added',
    at: ['2026-04-01', '2026-02-01'],
  },
];

const spoken: Pair[] = [
  {
    known: 'I live in Rome.',
    told: 'I live in Oslo now.',
    outcome: 'superseded',
    before: 'Rome',
    speakers: ['Anna', 'Anna'],
  },
  {
    known: 'I live in Rome.',
    told: 'Anna moved to Oslo.',
    outcome: 'superseded',
    before: 'Rome',
    speakers: ['Anna', null],
  },
  {
    known: 'The deadline is May 1.',
    told: 'The deadline moved to May 7.',
    outcome: 'superseded',
    before: 'May 1',
    speakers: ['Anna', 'Ben'],
  },
  {
    known: 'Lena lives in Hamburg.',
    told: 'Lena lives in Munich.',
    outcome: 'superseded',
    before: 'Hamburg',
    at: ['2020-01-01', '2026-03-01'],
  },
  {
    known: 'Lena lives in Hamburg.',
    told: 'Lena lives in Munich.',
    outcome: 'superseded',
    before: 'Hamburg',
    at: ['2020-01-01', null],
  },
];

export const pairs: readonly Pair[] = [...superseded, ...spoken, ...strengthened, ...contradictory, ...added];
