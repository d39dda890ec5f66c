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

type Thinking = 'planning' | 'reasoning' | 'tool_execution' | 'reflection' | 'decision';

/** One step of a run: what the agent thought, how sure it was, and the tool that it used, if it used one. */
export interface Step {
  readonly type: Thinking;
  readonly content: string;
  readonly confidence: number;
  readonly tokens: number;
  readonly tool?: { readonly tool_id: string; readonly result: string; readonly ms: number; readonly ok: boolean };
}

const tool = (tool_id: string, result: string, ms: number, ok = true) => ({ tool_id, result, ms, ok });

/** Up to the point that all that follows begins at. */
const token: readonly Step[] = [
  { type: 'planning', content: 'First the token, then the route, then the mail.', confidence: 0.9, tokens: 410 },
  {
    type: 'reasoning',
    content: '32 random bytes cannot be guessed; store their hash only.',
    confidence: 0.95,
    tokens: 380,
  },
  {
    type: 'tool_execution',
    content: 'Write the token and its expiry.',
    confidence: 0.9,
    tokens: 620,
    tool: tool('write_file', 'src/login-link.ts', 12, true),
  },
  {
    type: 'tool_execution',
    content: 'Write its tests.',
    confidence: 0.85,
    tokens: 540,
    tool: tool('write_file', 'test/login-link.test.ts', 9, true),
  },
  {
    type: 'tool_execution',
    content: 'Run them.',
    confidence: 0.9,
    tokens: 180,
    tool: tool('run_tests', '9 passed', 2140, true),
  },
];

const direct: readonly Step[] = [
  {
    type: 'decision',
    content: 'Opening the link logs in at once.',
    confidence: 0.7,
    tokens: 450,
    tool: tool('write_file', 'src/login-route.ts', 11, true),
  },
  {
    type: 'tool_execution',
    content: 'Run the tests with a mail scanner in between.',
    confidence: 0.5,
    tokens: 210,
    tool: tool('run_tests', '1 failed: the link was used before the click', 2310, false),
  },
];

const button: readonly Step[] = [
  {
    type: 'reflection',
    content: 'Scanners open links, but press no buttons.',
    confidence: 0.9,
    tokens: 390,
    tool: tool('write_file', 'src/login-page.ts', 14, true),
  },
  {
    type: 'tool_execution',
    content: 'Run the tests again.',
    confidence: 0.95,
    tokens: 190,
    tool: tool('run_tests', '14 passed', 2480, true),
  },
];

export const run = { token, direct, button };

export const conversation = { design, implementation, detour, retry, review };

export const browsers = ['Firefox', 'Safari', 'Chrome'] as const;
