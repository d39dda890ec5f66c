/** Short forms of technical and everyday words, each read as its word. */
const FORMS = `
accessibility: a11y; administrator: admin admins; application: app apps; appointment: appt; approximately: approx;
authentication: auth authn; authorization: authz; average: avg; certificate: cert certs; command: cmd cmds;
configuration: config configs cfg; credential: cred creds; database: db dbs; dependency: deps; department: dept;
directory: dir dirs; document: docs; environment: env envs; error: errs; function: func funcs;
implementation: impl; information: info; infrastructure: infra; initialize: init; internationalization: i18n;
javascript: js; kubernetes: k8s kube; language: lang langs; library: lib libs; localization: l10n; management: mgmt;
manager: mgr; mathematics: maths math; maximum: max; message: msg msgs; minimum: min; minute: mins; number: num nums;
observability: o11y; package: pkg pkgs; parameter: param params; password: pwd passwd; performance: perf;
permission: perms; photograph: photo photos pic pics; postgres: postgresql psql; production: prod; property: props;
python: py; quantity: qty; refrigerator: fridge fridges; repository: repo repos; request: req reqs; server: srv;
specification: spec specs; statistics: stats; synchronize: sync synced syncing synchronise; technology: tech;
telephone: phone phones; television: tv tvs telly; temperature: temp temps; temporary: tmp; typescript: ts;
university: uni; utility: utils; variable: vars; vegetable: veg veggie veggies; version: ver; veterinarian: vet vets;
video: vid vids; week: wk wks; year: yr yrs; grandfather: grandad granddad grandpa gramps;
grandmother: grandma granny gran nana; mother: mom mum mommy mummy; father: dad daddy; sister: sis; brother: bro;
child: kid kids; bicycle: bike bikes; airplane: aeroplane plane planes; influenza: flu; laboratory: lab labs;
examination: exam exams; birthday: bday; christmas: xmas; tomorrow: tmrw; tonight: tonite; okay: ok; pound: quid lb lbs;
kilogram: kilo kilos kg kgs; kilometer: km kms; hour: hr hrs; developer: devs; favourite: fave faves; microphone: mic mics;
advertisement: advert adverts; gymnasium: gym gyms; limousine: limo; memorandum: memo memos; doctor: dr
`;

/** From a short form to its word. */
export const shortForms: ReadonlyMap<string, string> = new Map(
  FORMS.trim()
    .split(';')
    .flatMap((entry) => {
      const [word, forms] = entry.trim().split(': ') as [string, string];
      return forms.split(' ').map((form) => [form, word] as const);
    }),
);
