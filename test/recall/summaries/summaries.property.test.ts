/** Summaries of random conversations: what they say is in what they are linked to, and each turn goes into one of them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { say, someScope } from '../../support/nouns/scopes.js';
import { somePolicy, summariesOf, synthesizedFrom } from '../../support/nouns/summaries.js';
import { openTarget } from '../../support/targets.js';

const WORDS = ['database', 'invoice', 'Kyoto', 'compiler', 'Ärger', '東京', 'deploy', 'café', 'queue', 'Anna'];

type Step = { readonly kind: 'say' | 'call'; readonly words: readonly number[] } | { readonly kind: 'summarize' };

const words = fc.array(fc.nat(WORDS.length - 1), { minLength: 3, maxLength: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('say' as const), words }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('call' as const), words }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'summarize' as const }) },
);

/** A turn, or a call and its result. Each says what no other says. */
async function take(cairn: Api, scope_id: string, one: Exclude<Step, { kind: 'summarize' }>, i: number) {
  const text = `Item ${i} about ${one.words.map((word) => WORDS[word]).join(' ')} was seen.`;
  if (one.kind === 'say') return [(await say(cairn, scope_id, text)).turn_id];
  const call = await say(cairn, scope_id, `I ask for ${i}.`, {
    role: 'Assistant',
    tool_calls: [{ id: `c${i}`, name: 'look', arguments: { about: i } }],
  });
  const result = await say(cairn, scope_id, text, {
    role: 'Tool',
    tool_results: [{ tool_call_id: `c${i}`, content: 'ok' }],
  });
  return [call.turn_id, result.turn_id];
}

const bare = (text: string): string => text.replace(/\s+/g, ' ').trim();

it('SUM-29 says nothing that is not in a linked turn, parts no tool call, and leaves out no turn', async () => {
  const { freshTenant, close } = await openTarget('sqlite');
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 2, maxLength: 14 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 16, max: 120 }),
        async (steps, max_sources, max_tokens) => {
          const cairn = await freshTenant();
          await somePolicy(cairn, { type: 'ScopeClose' }, { max_sources, max_tokens });
          const { scope_id } = await someScope(cairn);
          const groups: string[][] = [];
          for (const [i, one] of steps.entries()) {
            if (one.kind === 'summarize') await cairn.scopes.summarize({ scope_id, max_sources, max_tokens });
            else groups.push(await take(cairn, scope_id, one, i));
          }
          const texts = new Map(
            (await cairn.scopes.turns({ scope_id, limit: 500 })).turns.map((turn) => [
              turn.turn_id,
              String(turn.content),
            ]),
          );
          await cairn.scopes.close({ scope_id });
          const seen: string[] = [];
          for (const { artifact_id, content } of await summariesOf(cairn, scope_id)) {
            const linked = await synthesizedFrom(cairn, artifact_id);
            seen.push(...linked);
            const whole = bare(linked.map((id) => texts.get(id)!).join(' '));
            for (const said of bare(content as string).match(/Item \d+ about [^.]*/g) ?? [])
              expect(whole).toContain(said.replace(/[….]+$/, '').trim());
            for (const group of groups) expect(new Set(group.map((id) => linked.includes(id))).size).toBe(1);
          }
          expect(new Set(seen).size).toBe(seen.length);
          const jobs = (await cairn.jobs.list({ scope_id, limit: 500 })).jobs;
          const covered = jobs.reduce((sum, { sources }) => sum + sources, 0);
          expect(covered).toBe(groups.flat().length);
        },
      ),
      { numRuns: 25 },
    );
  } finally {
    await close();
  }
});
