/** The state of the demo's execution, with a checkpoint after every step. */
import type { Api } from '../api/index.js';
import type { CheckpointMetadata, CheckpointSummary, Snapshot } from '../checkpoints/contract.js';
import { newId } from '../kernel/contract.js';
import type { Step } from './demo-script.js';

export class RunStates {
  readonly #cairn: Api;
  readonly #execution_id: string;
  #snapshot: Snapshot = {
    thought_chain: { steps: [] },
    context: { messages: [{ role: 'user', content: 'Please build the login link.' }], variables: {} },
    tool_state: { pending: [], completed: [] },
  };
  #metadata: CheckpointMetadata = {
    step_number: 0,
    tokens_used: 0,
    duration_ms: 0,
    checkpoint_reason: 'step_complete',
  };

  constructor(cairn: Api, execution_id: string) {
    this.#cairn = cairn;
    this.#execution_id = execution_id;
  }

  resumeFrom(snapshot: Snapshot, metadata: CheckpointMetadata): void {
    this.#snapshot = snapshot;
    this.#metadata = metadata;
  }

  async checkpoint(step: Step): Promise<void> {
    const { step_number, tokens_used, duration_ms } = this.#metadata;
    const { type, content, confidence, tokens, tool } = step;
    const timestamp = Date.now();
    const id = newId();
    this.#snapshot.thought_chain.steps.push({ id, type, content, confidence, children: [], timestamp });
    this.#snapshot.thought_chain.current_step_id = id;
    this.#snapshot.context.messages.push({ role: 'assistant', content });
    if (tool) {
      const { tool_id, result, ms, ok } = tool;
      const call = { id: newId(), tool_id, arguments: {}, result, success: ok, duration_ms: ms, timestamp };
      this.#snapshot.tool_state.completed.push(call);
      this.#snapshot.context.variables[ok ? 'done' : 'failed'] = result;
    }
    this.#metadata = {
      step_number: step_number + 1,
      tokens_used: tokens_used + tokens,
      duration_ms: duration_ms + (tool?.ms ?? 0),
      checkpoint_reason: tool?.ok === false ? 'tool_error' : 'step_complete',
    };
    await this.#create();
  }

  /** Creates a named checkpoint of the unchanged state. */
  name(name: string): Promise<CheckpointSummary> {
    this.#metadata = { ...this.#metadata, checkpoint_reason: 'manual' };
    return this.#create(name);
  }

  #create(name?: string): Promise<CheckpointSummary> {
    return this.#cairn.checkpoints.create({
      execution_id: this.#execution_id,
      snapshot: this.#snapshot,
      metadata: this.#metadata,
      ...(name === undefined ? {} : { name }),
    });
  }
}
