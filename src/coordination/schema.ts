/** Tables of handovers, agent_turns, delegations, handoffs, messages and locks. */
import type { SchemaPart } from '../driver/index.js';

export const coordinationSchema: SchemaPart = {
  tables: [
    'handovers',
    'agent_turns',
    'agent_turn_steps',
    'turn_batches',
    'delegations',
    'handoffs',
    'messages',
    'deliveries',
    'lock_resources',
    'locks',
  ],
  statements: ({ id, int, json, table, compact }) => [
    // agent_id: the agent that stored it; null for a key without an agent.
    `CREATE TABLE handovers (
      tenant_id ${id} NOT NULL,
      name ${id} NOT NULL,
      agent_id ${id},
      recipe ${json} NOT NULL,
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      PRIMARY KEY (tenant_id, name)
    ) ${table}`,

    // One run of an agent. context_box_id is sealed, the lease holder appends to output_box_id, record_box_id has the
    // rendered prompts and tools. deliverable_card_id is in the output box. replaced_box_ids: former boxes.
    `CREATE TABLE agent_turns (
      tenant_id ${id} NOT NULL,
      agent_turn_id ${id} NOT NULL,
      agent_id ${id} NOT NULL,
      source_agent_id ${id},
      parent_agent_turn_id ${id},
      depth ${int} NOT NULL,
      profile_name ${id},
      profile_box_id ${id},
      profile_card_id ${id},
      trajectory_id ${id} NOT NULL,
      scope_id ${id},
      delegation_id ${id},
      batch_id ${id},
      task_index ${int},
      channel_id ${id},
      status TEXT NOT NULL,
      turn_epoch ${int} NOT NULL,
      attempts ${int} NOT NULL,
      max_attempts ${int} NOT NULL,
      worker_id ${id},
      context_box_id ${id} NOT NULL,
      output_box_id ${id} NOT NULL,
      record_box_id ${id},
      replaced_box_ids ${json},
      instruction_card_id ${id},
      deliverable_card_id ${id},
      result_status TEXT,
      summary TEXT,
      error ${json},
      forked_from ${id},
      dispatched_at ${int} NOT NULL,
      claimed_at ${int},
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      ended_at ${int},
      PRIMARY KEY (tenant_id, agent_turn_id)
    ) ${table}`,
    // One active turn per agent.
    `CREATE UNIQUE INDEX agent_turns_active ON agent_turns (tenant_id, agent_id) WHERE ended_at IS NULL`,
    'CREATE INDEX agent_turns_by_agent ON agent_turns (tenant_id, agent_id, agent_turn_id)',
    'CREATE INDEX agent_turns_by_source ON agent_turns (tenant_id, source_agent_id, agent_turn_id) WHERE source_agent_id IS NOT NULL',
    `CREATE INDEX agent_turns_dispatched ON agent_turns (tenant_id, dispatched_at, agent_turn_id) WHERE status = 'dispatched'`,
    `CREATE INDEX agent_turns_waiting ON agent_turns (tenant_id, profile_name, dispatched_at, agent_turn_id) WHERE status = 'dispatched'`,
    'CREATE INDEX agent_turns_by_trajectory ON agent_turns (tenant_id, trajectory_id, agent_turn_id)',
    'CREATE INDEX agent_turns_by_parent ON agent_turns (tenant_id, parent_agent_turn_id, agent_turn_id) WHERE parent_agent_turn_id IS NOT NULL',
    'CREATE INDEX agent_turns_by_batch ON agent_turns (tenant_id, batch_id, task_index) WHERE batch_id IS NOT NULL',

    // The prompt of each step, as box revisions: enough to render the same bytes again.
    `CREATE TABLE agent_turn_steps (
      tenant_id ${id} NOT NULL,
      agent_turn_id ${id} NOT NULL,
      step ${int} NOT NULL,
      turn_epoch ${int} NOT NULL,
      format TEXT NOT NULL,
      context_box_id ${id} NOT NULL,
      context_revision ${int} NOT NULL,
      output_box_id ${id} NOT NULL,
      output_revision ${int} NOT NULL,
      prompt_card_id ${id} NOT NULL,
      tools_card_id ${id} NOT NULL,
      content_hash TEXT NOT NULL,
      created_at ${int} NOT NULL,
      PRIMARY KEY (tenant_id, agent_turn_id, step)
    ) ${compact}`,

    `CREATE TABLE turn_batches (
      tenant_id ${id} NOT NULL,
      batch_id ${id} NOT NULL,
      source_agent_id ${id},
      parent_agent_turn_id ${id},
      channel_id ${id},
      fail_fast ${int} NOT NULL,
      task_count ${int} NOT NULL,
      status TEXT NOT NULL,
      deadline_at ${int} NOT NULL,
      created_at ${int} NOT NULL,
      ended_at ${int},
      PRIMARY KEY (tenant_id, batch_id)
    ) ${compact}`,

    // trajectory_id is the delegator's, child_trajectory_id the receiver's; the texts are erased with either. handover:
    // recipe and boxes to pack on acceptance. depth and parent_agent_turn_id are copied to the agent_turn created then.
    `CREATE TABLE delegations (
      tenant_id ${id} NOT NULL,
      delegation_id ${id} NOT NULL,
      from_agent_id ${id},
      to_agent_id ${id} NOT NULL,
      trajectory_id ${id},
      scope_id ${id},
      child_trajectory_id ${id},
      child_scope_id ${id},
      agent_turn_id ${id},
      parent_agent_turn_id ${id},
      depth ${int} NOT NULL,
      status TEXT NOT NULL,
      task_description TEXT,
      context ${json},
      handover ${json},
      expected_completion ${int},
      result ${json},
      reason TEXT,
      channel_id ${id},
      sent_hash TEXT,
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      accepted_at ${int},
      ended_at ${int},
      PRIMARY KEY (tenant_id, delegation_id)
    ) ${table}`,
    'CREATE INDEX delegations_by_receiver ON delegations (tenant_id, to_agent_id, delegation_id)',
    'CREATE INDEX delegations_by_sender ON delegations (tenant_id, from_agent_id, delegation_id) WHERE from_agent_id IS NOT NULL',
    'CREATE INDEX delegations_by_trajectory ON delegations (tenant_id, trajectory_id, delegation_id) WHERE trajectory_id IS NOT NULL',
    'CREATE INDEX delegations_by_child ON delegations (tenant_id, child_trajectory_id) WHERE child_trajectory_id IS NOT NULL',

    `CREATE TABLE handoffs (
      tenant_id ${id} NOT NULL,
      handoff_id ${id} NOT NULL,
      from_agent_id ${id} NOT NULL,
      to_agent_id ${id} NOT NULL,
      trajectory_id ${id} NOT NULL,
      scope_id ${id},
      new_scope_id ${id},
      context_box_id ${id},
      status TEXT NOT NULL,
      reason TEXT,
      rejection TEXT,
      body ${json},
      context_snapshot TEXT,
      sent_hash TEXT,
      expires_at ${int} NOT NULL,
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      accepted_at ${int},
      ended_at ${int},
      PRIMARY KEY (tenant_id, handoff_id)
    ) ${table}`,
    'CREATE INDEX handoffs_by_receiver ON handoffs (tenant_id, to_agent_id, handoff_id)',
    'CREATE INDEX handoffs_by_sender ON handoffs (tenant_id, from_agent_id, handoff_id)',
    'CREATE INDEX handoffs_by_trajectory ON handoffs (tenant_id, trajectory_id, handoff_id)',

    // payload is cleared when the message expires or its trajectory is deleted. recipients, acknowledged: counts.
    `CREATE TABLE messages (
      tenant_id ${id} NOT NULL,
      message_id ${id} NOT NULL,
      from_agent_id ${id},
      to_agent_id ${id},
      to_agent_type ${id},
      fan_out TEXT NOT NULL,
      message_type ${id} NOT NULL,
      payload TEXT,
      trajectory_id ${id},
      scope_id ${id},
      artifact_ids ${json},
      priority ${int} NOT NULL,
      seq ${int} NOT NULL,
      recipients ${int} NOT NULL,
      acknowledged ${int} NOT NULL,
      acknowledged_at ${int},
      sent_hash TEXT,
      expires_at ${int},
      created_at ${int} NOT NULL,
      erased_at ${int},
      PRIMARY KEY (tenant_id, message_id)
    ) ${table}`,
    'CREATE INDEX messages_in_order ON messages (tenant_id, seq)',
    'CREATE INDEX messages_by_sender ON messages (tenant_id, from_agent_id, seq) WHERE from_agent_id IS NOT NULL',
    'CREATE INDEX messages_expiring ON messages (tenant_id, expires_at) WHERE expires_at IS NOT NULL AND erased_at IS NULL',
    'CREATE INDEX messages_by_trajectory ON messages (tenant_id, trajectory_id) WHERE trajectory_id IS NOT NULL',

    // A message in a mailbox: agent:<id>, or type:<agent_type> for one agent of a type. seq: commit order. lane:
    // messages of one sender and priority, delivered in order; the most urgent lanes sort first. delivered_to: agents
    // of the type that had it. Deleted with the content of the message.
    `CREATE TABLE deliveries (
      tenant_id ${id} NOT NULL,
      message_id ${id} NOT NULL,
      mailbox ${id} NOT NULL,
      seq ${int} NOT NULL,
      lane ${id} NOT NULL,
      deliveries ${int} NOT NULL,
      expires_at ${int},
      delivered_to ${json},
      acknowledged_by ${id},
      acknowledged_at ${int},
      PRIMARY KEY (tenant_id, message_id, mailbox)
    ) ${compact}`,
    // Open and acknowledged deliveries apart: a search for one does not scan the other.
    'CREATE INDEX deliveries_open ON deliveries (tenant_id, mailbox, lane, seq) WHERE acknowledged_at IS NULL',
    'CREATE INDEX deliveries_done ON deliveries (tenant_id, mailbox, seq) WHERE acknowledged_at IS NOT NULL',

    // token: of the last grant, outlives every lock. ticket: of the last request.
    `CREATE TABLE lock_resources (
      tenant_id ${id} NOT NULL,
      resource_type ${id} NOT NULL,
      resource_id ${id} NOT NULL,
      token ${int} NOT NULL,
      ticket ${int} NOT NULL,
      PRIMARY KEY (tenant_id, resource_type, resource_id)
    ) ${compact}`,

    // State: waiting, granted (not picked up yet), held, then released, expired or abandoned. The lease has its end.
    `CREATE TABLE locks (
      tenant_id ${id} NOT NULL,
      lock_id ${id} NOT NULL,
      resource_type ${id} NOT NULL,
      resource_id ${id} NOT NULL,
      holder_agent_id ${id} NOT NULL,
      mode TEXT NOT NULL,
      state TEXT NOT NULL,
      ticket ${int} NOT NULL,
      token ${int},
      lease_ms ${int} NOT NULL,
      asked_at ${int} NOT NULL,
      granted_at ${int},
      ended_at ${int},
      PRIMARY KEY (tenant_id, lock_id)
    ) ${table}`,
    'CREATE INDEX locks_open ON locks (tenant_id, resource_type, resource_id, state, ticket) WHERE ended_at IS NULL',
    'CREATE INDEX locks_by_holder ON locks (tenant_id, holder_agent_id, lock_id) WHERE ended_at IS NULL',
    'CREATE INDEX locks_ended ON locks (tenant_id, ended_at) WHERE ended_at IS NOT NULL',
  ],
};
