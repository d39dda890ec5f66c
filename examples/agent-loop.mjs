// Assemble, call, store the turns: `OPENAI_BASE_URL=… OPENAI_API_KEY=… MODEL=… node examples/agent-loop.mjs`
import { openCairn } from 'cairndb';

const { OPENAI_BASE_URL: url = 'http://localhost:11434/v1', OPENAI_API_KEY: key } = process.env;
const cairn = await openCairn({ database: './memory.db' });
const { trajectory_id } = await cairn.trajectories.create({ name: 'Plan the week' });
const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'Chat' });
await cairn.notes.create({ note_type: 'Preference', title: 'Meetings', content: 'No meetings before ten.' });

const parameters = { type: 'object', properties: {} };
const tools = [{ type: 'function', function: { name: 'free_hours', parameters } }];
const run = { free_hours: () => '9:00, 11:00' };

async function call(messages) {
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: process.env.MODEL ?? 'llama3.2', messages, tools }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()).choices[0].message;
}

// #region loop
await cairn.turns.add({ scope_id, role: 'User', content: 'When can we hold the meetings?' });
for (let calls = true; calls; ) {
  const { messages } = await cairn.context.assemble({ scope_id, token_budget: 4000 });
  const { content, tool_calls } = await call(messages);
  await cairn.turns.add({ scope_id, role: 'Assistant', content: content ?? '', tool_calls });
  for (const { id, function: tool } of tool_calls ?? []) {
    const tool_results = [{ tool_call_id: id, content: run[tool.name]() }];
    await cairn.turns.add({ scope_id, role: 'Tool', tool_results });
  }
  console.log(content || `calls ${tool_calls[0].function.name}`);
  calls = tool_calls?.length > 0;
}
// #endregion
await cairn.close();
