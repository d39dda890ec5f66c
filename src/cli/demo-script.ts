/** The team, conversations and steps of the demo. */

/** Who takes part, and how a trial is packed. */
export const team = `
profile tester { system_prompt: "You try a page out in one browser." }

agent builder {
  capabilities: [write_code]
  can_delegate_to: [reviewer, tester]
}

agent reviewer { capabilities: [review] }

handover Trial {
  context_packing_config {
    pack_arguments: [{ arg_key: instruction, as_card_type: task.instruction }]
  }
  target_profile_config { profile_name: tester }
}
`;

/** Rules of the whole tenant. */
export const rules = `
settings {
  artifact_ttls { ErrorLog: 90d, IntermediateOutput: Scope }
  context_token_budget: 4000
}

policy LongConversations {
  trigger { type: TurnCount, count: 50 }
  actions: [summarize, extract]
}
`;

type Line = readonly [role: string, content: string];

/** Reads lines of `role: content`; an indented line continues the one above. */
const conversationOf = (script: string): Line[] =>
  script
    .trim()
    .replaceAll('\n  ', ' ')
    .split('\n')
    .map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });

export const conversation = {
  design: conversationOf(`
system: You plan features for a web shop. Decide with the user, and write decisions down.
user: People forget their passwords. I want them to log in by a link that we mail to them.
assistant: How long may a link be good for? Mail can take some minutes, but a stolen link should be useless soon.
user: 15 minutes sounds right. And once used, it must not work again.
assistant: Then I suggest: 15 minutes, one use, stored as a hash only. Should it work on another device than the one
  that asked?
user: No, bind it to the browser. And make it 10 minutes, support says mails arrive within one.
assistant: Agreed: 10 minutes, one use, bound to the browser that asked. I write that down as the decision and go on to
  the mail provider.
user: We have an account with two of them. Take whichever has the better delivery to the big mail hosts; the price
  hardly matters here.
assistant: I compare both by their published delivery rates and keep the list for this conversation only, since it will
  be out of date next month.
tool: {"postmark":{"delivered":0.993},"ses":{"delivered":0.981}}
assistant: The first is better by about one percent. I take it, and we can close the design.`),

  implementation: conversationOf(`
user: Please build it on a branch of its own.
assistant: I start with the token: 32 random bytes, mailed as base64url, stored as a SHA-256 hash with the moment it
  expires.
tool: created src/login-link.ts, test/login-link.test.ts
assistant: The token is there with its tests. Next is the route that checks it.`),

  detour: conversationOf(`
user: Could the link log people in directly, with no page between?
assistant: I try it: the route checks the token on GET and sets the session.
tool: test failed: the link was used before the user clicked it (mail scanner)`),

  retry: conversationOf(`
assistant: A scanner used the link up. I go back to the checkpoint and let the link lead to a page with one button,
  which posts the token.
tool: 14 tests passed
assistant: All tests pass. I keep what we learned about scanners as a note.`),

  rollOut: conversationOf(`
user: Let us roll the login link out to one country first.
assistant: Then I begin with the smallest, and watch how many links are opened by scanners.
user: Good. Tell Lena before you start, she answers for the support team there.
assistant: I will. What may I tell her about the old passwords?
user: They stay valid until the end of the month.`),

  review: conversationOf(`
system: You review code for security.
user: Please read login-link.ts.
assistant: One finding: the hash is compared with ==. Compare it in constant time.
tool: fixed in login-link.ts`),
};

/** What is known about the roll-out, and what turned out to be otherwise. */
export const known = [
  { text: 'Anna is responsible for the roll-out of the login link.', occurred_at: '2026-02-02' },
  { text: 'Lena lives in Hamburg.', occurred_at: '2024-05-01' },
  { text: 'The support team answers mails about logins within one hour.', occurred_at: '2026-02-03' },
];
export const correction = { text: 'Lena lives in Munich now.', occurred_at: '2026-03-01' };
export const question = 'Who is responsible for the roll-out, and where does Lena live?';

export interface Step {
  readonly type: 'planning' | 'reasoning' | 'tool_execution' | 'reflection' | 'decision';
  readonly content: string;
  readonly confidence: number;
  readonly tokens: number;
  readonly tool?: ReturnType<typeof tool> | undefined;
}

const tool = (tool_id: string, result: string, ms: number, ok = true) => ({ tool_id, result, ms, ok });

const step = (
  type: Step['type'],
  content: string,
  confidence: number,
  tokens: number,
  used?: ReturnType<typeof tool>,
): Step => ({ type, content, confidence, tokens, tool: used });

export const run = {
  /** Up to the checkpoint that both attempts start from. */
  token: [
    step('planning', 'First the token, then the route, then the mail.', 0.9, 410),
    step('reasoning', '32 random bytes cannot be guessed; store their hash only.', 0.95, 380),
    step('tool_execution', 'Write the token and its expiry.', 0.9, 620, tool('write_file', 'src/login-link.ts', 12)),
    step('tool_execution', 'Write its tests.', 0.85, 540, tool('write_file', 'test/login-link.test.ts', 9)),
    step('tool_execution', 'Run them.', 0.9, 180, tool('run_tests', '9 passed', 2140)),
  ],
  direct: [
    step('decision', 'Opening the link logs in at once.', 0.7, 450, tool('write_file', 'src/login-route.ts', 11)),
    step(
      'tool_execution',
      'Run the tests with a mail scanner in between.',
      0.5,
      210,
      tool('run_tests', '1 failed: the link was used before the click', 2310, false),
    ),
  ],
  button: [
    step(
      'reflection',
      'Scanners open links, but press no buttons.',
      0.9,
      390,
      tool('write_file', 'src/login-page.ts', 14),
    ),
    step('tool_execution', 'Run the tests again.', 0.95, 190, tool('run_tests', '14 passed', 2480)),
  ],
};

export const browsers = ['Firefox', 'Safari', 'Chrome'];
