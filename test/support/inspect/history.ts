/**
 * A small checker of histories: what several processes asked of locks, messages and agent_turns, when, and what they were
 * answered, against what the specification promises. An operation without an answer may or may not have happened.
 */

/** One call. Times are of one clock for all processes: `at` when it was made, `back` when it was answered. */
export interface Call {
  readonly process: string;
  readonly op: string;
  readonly args: Record<string, unknown>;
  readonly at: number;
  /** Absent when the process was killed before it knew. */
  readonly back?: number;
  readonly value?: Record<string, unknown>;
  readonly error?: string;
}

/** What the store says when all is over. */
export interface Final {
  /** message_id of what is unacknowledged. */
  readonly unacknowledged: readonly string[];
  readonly turns: Readonly<Record<string, { readonly status: string; readonly marks: readonly string[] }>>;
}

type Answered = Call & { readonly back: number; readonly value: Record<string, unknown> };

const answered = (calls: readonly Call[], op: string): Answered[] =>
  calls.filter((call): call is Answered => call.op === op && call.value !== undefined);

const unknown = (calls: readonly Call[], op: string): Call[] =>
  calls.filter((call) => call.op === op && call.back === undefined);

/** Everything that is wrong with a history; nothing when it is as promised. */
export function faultsOf(calls: readonly Call[], final: Final): string[] {
  return [...lockFaults(calls), ...messageFaults(calls, final), ...turnFaults(calls, final)];
}

interface Hold {
  readonly lock_id: string;
  readonly mode: string;
  readonly token: number;
  readonly asked: number;
  readonly from: number;
  /** Surely held until then: its release was asked for, or its time as the store gave it was over. */
  readonly until: number;
}

/** For how long each grant was surely held. Answers carry times of the store, which are of the same clock. */
function holdsOf(calls: readonly Call[]): Map<string, Hold[]> {
  const holds = new Map<string, Hold[]>();
  const releases = calls.filter(({ op }) => op === 'release');
  for (const { args, value, at, back } of answered(calls, 'acquire')) {
    const lock_id = value.lock_id as string;
    const extended = answered(calls, 'extend').filter((one) => one.args.lock_id === lock_id);
    const ends = [value, ...extended.map((one) => one.value)].map((one) => Date.parse(one.expires_at as string));
    const release = releases.find((one) => one.args.lock_id === lock_id);
    const over = Math.max(...ends);
    // A release that was granted says that it was held until then, whatever the clock said.
    const until = release ? (release.value ? release.at : Math.min(over, release.at)) : over;
    const resource = args.resource_id as string;
    const hold = {
      lock_id,
      mode: value.mode as string,
      token: value.fencing_token as number,
      asked: at,
      from: back,
      until,
    };
    holds.set(resource, [...(holds.get(resource) ?? []), hold]);
  }
  return holds;
}

function lockFaults(calls: readonly Call[]): string[] {
  const faults: string[] = [];
  for (const [resource, holds] of holdsOf(calls)) {
    for (const [i, a] of holds.entries()) {
      for (const b of holds.slice(i + 1)) {
        const alone = a.mode === 'Exclusive' || b.mode === 'Exclusive';
        if (alone && a.from < b.until && b.from < a.until)
          faults.push(`${resource}: held by ${a.lock_id} and ${b.lock_id} at once`);
        if (a.token === b.token) faults.push(`${resource}: token ${a.token} was given twice`);
        const [first, second] = a.from <= b.from ? [a, b] : [b, a];
        if (first.from < second.asked && first.token >= second.token)
          faults.push(`${resource}: token ${second.token} came after ${first.token}`);
      }
    }
  }
  return faults;
}

function messageFaults(calls: readonly Call[], final: Final): string[] {
  const faults: string[] = [];
  const acks = answered(calls, 'acknowledge').map(({ args }) => args.message_id as string);
  const maybe = new Set(unknown(calls, 'acknowledge').map(({ args }) => args.message_id as string));
  const left = new Set(final.unacknowledged);
  for (const { value } of answered(calls, 'send')) {
    const id = value.message_id as string;
    const times = acks.filter((one) => one === id).length;
    if (times > 1) faults.push(`message ${id} was acknowledged ${times} times`);
    if (times === 1 && left.has(id)) faults.push(`message ${id} was acknowledged and still waits`);
    if (times === 0 && !left.has(id) && !maybe.has(id)) faults.push(`message ${id} was lost`);
  }
  return [...faults, ...orderFaults(calls)];
}

interface Delivery {
  readonly id: string;
  readonly group: string;
  readonly seq: number;
  readonly attempt: number;
  readonly at: number;
  readonly back: number;
}

/** Of one sender, priority and mailbox, none comes for the first time before an earlier one has. */
function orderFaults(calls: readonly Call[]): string[] {
  const first = new Map<string, Delivery>();
  for (const { value, at, back } of answered(calls, 'receive')) {
    for (const one of value.messages as Record<string, unknown>[]) {
      const delivery = one.delivery as { mailbox: string; attempt: number };
      const group = `${delivery.mailbox} ${one.from_agent_id} ${one.priority}`;
      const id = `${delivery.mailbox} ${one.message_id}`;
      const seen = { id, group, seq: one.seq as number, attempt: delivery.attempt, at, back };
      const before = first.get(id);
      if (!before || seen.attempt < before.attempt) first.set(id, seen);
    }
  }
  const all = [...first.values()];
  return all.flatMap((a) =>
    all
      .filter((b) => a.group === b.group && a.seq < b.seq && a.attempt === 1 && b.back < a.at)
      .map((b) => `${b.id} came before ${a.id} of the same sender`),
  );
}

const STEPS = ['append', 'complete', 'fail', 'renew'];

function turnFaults(calls: readonly Call[], final: Final): string[] {
  const faults: string[] = [];
  const claims = answered(calls, 'claim').flatMap(({ value, at, back }) => {
    const turn = value.agent_turn as { agent_turn_id: string; turn_epoch: number } | null;
    return turn === null ? [] : [{ id: turn.agent_turn_id, epoch: turn.turn_epoch, at, back }];
  });
  for (const [i, a] of claims.entries()) {
    for (const b of claims.slice(i + 1)) {
      if (a.id === b.id && a.epoch === b.epoch) faults.push(`agent_turn ${a.id} was claimed twice in epoch ${a.epoch}`);
    }
  }
  for (const op of STEPS) {
    for (const { args, at } of answered(calls, op)) {
      const later = claims.find(
        (c) => c.id === args.agent_turn_id && c.epoch > (args.turn_epoch as number) && c.back < at,
      );
      if (later)
        faults.push(
          `${op} of agent_turn ${later.id} in epoch ${args.turn_epoch} went through after epoch ${later.epoch}`,
        );
    }
  }
  for (const [id, { status, marks }] of Object.entries(final.turns)) {
    const ends = ['complete', 'fail']
      .flatMap((op) => answered(calls, op))
      .filter(({ args }) => args.agent_turn_id === id);
    // Whoever ends it the same way again is told that it has: that is one end.
    const different = new Set(ends.map(({ op, process, args }) => JSON.stringify([op, process, args])));
    if (different.size > 1) faults.push(`agent_turn ${id} ended ${different.size} times`);
    const [end] = ends;
    const wanted = end?.op === 'complete' ? 'completed' : 'failed';
    if (end && status !== wanted) faults.push(`agent_turn ${id} was answered ${wanted} and is ${status}`);
    const of = (list: Call[]) =>
      list.filter(({ args }) => args.agent_turn_id === id).map(({ args }) => args.mark as string);
    const written = of(answered(calls, 'append'));
    const possible = new Set([...written, ...of(unknown(calls, 'append'))]);
    for (const mark of written) if (!marks.includes(mark)) faults.push(`agent_turn ${id} lost ${mark}`);
    for (const mark of marks) if (!possible.has(mark)) faults.push(`agent_turn ${id} has ${mark}, which was refused`);
    if (new Set(marks).size !== marks.length) faults.push(`agent_turn ${id} has something twice`);
  }
  return faults;
}
