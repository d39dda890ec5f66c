// Assemble, call, store the turns: `OPENAI_BASE_URL=… OPENAI_API_KEY=… MODEL=… npx tsx examples/agent-loop.ts`
import { openCairn } from 'cairndb';

type Call = { id: string; type: 'function'; function: { name: string; arguments: string } };
type Reply = { content: string | null; tool_calls?: Call[] };

const { OPENAI_BASE_URL: url = 'http://localhost:11434/v1', OPENAI_API_KEY: key, MODEL: model } = process.env;
const cairn = await openCairn({ database: './memory.db' });
const { trajectory_id } = await cairn.trajectories.create({ name: 'Plan the week' });
const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'Chat' });
await cairn.notes.create({ note_type: 'Preference', title: 'Meetings', content: 'No meetings before ten.' });

const tools = [{ type: 'function', function: { name: 'free_hours', parameters: { type: 'object' } } }];
const run: Record<string, () => string> = { free_hours: () => '9:00, 11:00' };

async function ask(messages: unknown): Promise<Reply> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const body = JSON.stringify({ model: model ?? 'llama3.2', messages, tools });
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return ((await response.json()) as { choices: [{ message: Reply }] }).choices[0].message;
}

// #region loop
await cairn.turns.add({ scope_id, role: 'User', content: 'When can we hold the meetings?' });
for (let isDone = false; !isDone; ) {
  const { messages } = await cairn.context.assemble({ scope_id, token_budget: 4000 });
  const { content, tool_calls = [] } = await ask(messages); // your model
  await cairn.turns.add({ scope_id, role: 'Assistant', content: content ?? '', tool_calls });
  for (const { id, function: tool } of tool_calls) {
    const tool_results = [{ tool_call_id: id, content: run[tool.name]?.() ?? 'unknown tool' }];
    await cairn.turns.add({ scope_id, role: 'Tool', tool_results });
  }
  console.log(content || `calls ${tool_calls[0]?.function.name}`);
  isDone = tool_calls.length === 0;
}
// #endregion
await cairn.close();
