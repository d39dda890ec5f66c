/** The types of answers. Checked against the published declarations. */
import type { AnthropicMessage, Cairn, Hydrated, OpenAiMessage, PromptFormat } from 'cairndb';

declare const cairn: Cairn;
declare const format: 'markdown' | 'xml';
declare const anyFormat: PromptFormat;

/** Compiles where both types are the same. */
const same = <A, B>(_: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false): void => {};

const turn = await cairn.turns.add({ scope_id: 'a', role: 'User' });
same<typeof turn.role, 'User' | 'Assistant' | 'System' | 'Tool'>(true);
same<typeof turn.budget.over_budget, boolean>(true);
same<typeof turn.model_id, string | null>(true);
// @ts-expect-error: the helper tells types apart
same<typeof turn.model_id, string>(true);

const { passages } = await cairn.recall('tea', { limit: 3 });
same<(typeof passages)[number]['text'], string>(true);

for await (const { packet } of cairn.events.follow({ after: '0' })) packet?.packet_type.length;

// Messages by format; without one, an OpenAI-style chat.
const asked = await cairn.context.assemble({ token_budget: 8000 });
same<typeof asked.messages, OpenAiMessage[]>(true);
same<typeof asked.text, null>(true);
const written = await cairn.context.assemble({ format });
same<typeof written.text, string>(true);
// @ts-expect-error: in these formats there are no messages
written.messages.length;
// @ts-expect-error: not a format
await cairn.context.assemble({ format: 'yaml' });

const held = { agent_turn_id: 'a', turn_epoch: 1 };
same<Awaited<ReturnType<typeof openai>>, OpenAiMessage[]>(true);
const openai = async () => (await cairn.agent_turns.hydrate(held)).messages;
const anthropic = await cairn.agent_turns.hydrate({ ...held, format: 'anthropic' });
same<typeof anthropic.messages, AnthropicMessage[]>(true);
const either = await cairn.agent_turns.hydrate({ ...held, format: anyFormat });
same<typeof either, Hydrated>(true);
if (either.format === 'anthropic') same<typeof either.messages, AnthropicMessage[]>(true);
const replayed = await cairn.agent_turns.replay({ agent_turn_id: 'a' });
if (replayed.format === 'openai') same<typeof replayed.messages, OpenAiMessage[]>(true);

const message = asked.messages[0]!;
if (message.role === 'assistant') same<typeof message.content, string | null>(true);
if (message.role === 'tool') message.tool_call_id.length;
// @ts-expect-error: only an assistant calls tools
if (message.role === 'user') message.tool_calls;
