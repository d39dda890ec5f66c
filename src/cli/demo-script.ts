/** What is said in the demo. */

type Lines = readonly (readonly [role: 'user' | 'assistant' | 'system' | 'tool', content: string])[];

const design: Lines = [
  ['system', 'You plan features for a web shop. Decide with the user, and write decisions down.'],
  ['user', 'People forget their passwords. I want them to log in by a link that we mail to them.'],
  [
    'assistant',
    'How long may a link be good for? Mail can take some minutes, but a stolen link should be useless soon.',
  ],
  ['user', '15 minutes sounds right. And once used, it must not work again.'],
  [
    'assistant',
    'Then I suggest: 15 minutes, one use, stored as a hash only. Should it work on another device than the one that asked?',
  ],
  ['user', 'No, bind it to the browser. And make it 10 minutes, support says mails arrive within one.'],
  [
    'assistant',
    'Agreed: 10 minutes, one use, bound to the browser that asked. I write that down as the decision and go on to the mail provider.',
  ],
  [
    'user',
    'We have an account with two of them. Take whichever has the better delivery to the big mail hosts; the price hardly matters here.',
  ],
  [
    'assistant',
    'I compare both by their published delivery rates and keep the list for this conversation only, since it will be out of date next month.',
  ],
  ['tool', '{"postmark":{"delivered":0.993},"ses":{"delivered":0.981}}'],
  ['assistant', 'The first is better by about one percent. I take it, and we can close the design.'],
];

const implementation: Lines = [
  ['user', 'Please build it on a branch of its own.'],
  [
    'assistant',
    'I start with the token: 32 random bytes, mailed as base64url, stored as a SHA-256 hash with the moment it expires.',
  ],
  ['tool', 'created src/login-link.ts, test/login-link.test.ts'],
  ['assistant', 'The token is there with its tests. Next is the route that checks it.'],
];

const detour: Lines = [
  ['user', 'Could the link log people in directly, with no page between?'],
  ['assistant', 'I try it: the route checks the token on GET and sets the session.'],
  ['tool', 'test failed: the link was used before the user clicked it (mail scanner)'],
];

const retry: Lines = [
  [
    'assistant',
    'A scanner used the link up. I go back to the checkpoint and let the link lead to a page with one button, which posts the token.',
  ],
  ['tool', '14 tests passed'],
  ['assistant', 'All tests pass. I keep what we learned about scanners as a note.'],
];

const review: Lines = [
  ['system', 'You review code for security.'],
  ['user', 'Please read login-link.ts.'],
  ['assistant', 'One finding: the hash is compared with ==. Compare it in constant time.'],
  ['tool', 'fixed in login-link.ts'],
];

export const conversation = { design, implementation, detour, retry, review };
