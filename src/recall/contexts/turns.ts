/** Reads the newest turns of a context backwards in pages, and no more than can fit. */
import type { Query } from '../../driver/index.js';
import { type Call, nextLimit, reachesSubjects } from '../../engine/index.js';
import { cardBytes, textOf } from '../../facts/index.js';
import { type BoxRow, type CardRow, findBox, findCards, segmentsOf, tailOf } from '../../facts/sql.js';
import { reachOf } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { scopesReached } from '../../memory/sql.js';
import type { TurnPosition } from '../manifests/entries.js';
import type { Meter } from '../windows/assembly.js';
import { CUT_SHARE } from '../windows/fitting.js';
import { type TurnCard, textsOf, unitsOf } from '../windows/turns.js';
import { turnCardOf } from './parts.js';
import { newestScopes, type ScopeBox, scopesAround, turnsIn } from './sources.js';

interface TurnsWanted {
  readonly trajectory_id: string;
  readonly scope_id: string | null;
  readonly hierarchy: boolean;
  /** Upper bound: turns beyond it cannot fit and are not read. */
  readonly tokens: number;
  readonly max_turns: number;
}

interface ReadTurns {
  /** Oldest first. */
  readonly turns: readonly TurnCard[];
  /** Including turns that were not read. */
  readonly total: number;
  readonly positions: ReadonlyMap<string, TurnPosition>;
}

const SCOPES_PER_PAGE = 20;
const FIRST_PAGE = 32;
/** The call of a result is looked for in so many earlier turns. */
const CALL_DISTANCE = 64;

/** The scopes whose turns are shown, newest first. */
async function* scopesOf(query: Query, wanted: TurnsWanted): AsyncGenerator<ScopeBox> {
  if (wanted.scope_id !== null) {
    const around = await scopesAround(query, wanted.scope_id);
    yield* wanted.hierarchy ? around : around.slice(0, 1);
    return;
  }
  for (let last: ScopeBox | undefined; ; ) {
    const page = await newestScopes(query, wanted.trajectory_id, last, SCOPES_PER_PAGE);
    yield* page;
    if (page.length < SCOPES_PER_PAGE) return;
    last = page.at(-1);
  }
}

/** The cards of a box from the last backwards, in growing pages. */
async function* cardsFromEnd(query: Query, box: BoxRow): AsyncGenerator<{ row: CardRow; position: number }[]> {
  const segments = await segmentsOf(query, box);
  let limit = FIRST_PAGE;
  for (let seen = 0; seen < box.length; ) {
    // Rereads positions from the end each time: they are cheap, cards are not.
    const tail = await tailOf(query, segments, seen + limit);
    const entries = tail.slice(0, tail.length - seen);
    if (entries.length === 0) return;
    const card_ids = entries.map(({ card_id }) => card_id);
    const rows = await findCards(query, card_ids);
    const found = entries.flatMap(({ card_id, position }) => {
      const row = rows.get(card_id);
      return row ? [{ row, position }] : [];
    });
    seen += entries.length;
    limit = nextLimit(found, limit, ({ row }) => cardBytes(row));
    yield found.reverse();
  }
}

/** Approximates the rendered turn, to estimate when enough turns are read. */
const plainText = (turn: TurnCard): string => [...textsOf(turn), textOf(turn.tool_calls as Json)].join('\n');

export async function readTurns(call: Call, wanted: TurnsWanted, meter: Meter): Promise<ReadTurns> {
  const { driver, tenant } = call;
  const query = driver.at(tenant);
  const reach = reachOf(call, 'Turn');
  if (reach?.extent === 'none') return { turns: [], total: 0, positions: new Map() };
  const newestFirst: TurnCard[] = [];
  const positions = new Map<string, TurnPosition>();
  let tokens = 0;
  let total = 0;
  /** How many of the turns that were read may fit. */
  let fitting = 0;
  let isNewest = true;
  for await (const { scope_id, box_id } of scopesOf(query, wanted)) {
    const box = await findBox(query, box_id);
    if (!box || box.ended_at !== null) continue;
    const all = !reach || (await scopesReached(query, [scope_id], reach)).has(scope_id);
    // Turns about others are not counted.
    const counted = all && !reach?.user;
    if (counted) total += box.length;
    if (isEnough()) continue;
    for await (const page of cardsFromEnd(query, box)) {
      for (const { row, position } of page) {
        if (row.erased_at !== null) {
          if (counted) total--;
          continue;
        }
        if (!reachesSubjects(reach?.user, row.subject_ids)) continue;
        if (!all && row.author_id !== reach.agent_id) continue;
        if (!counted) total++;
        const turn = turnCardOf(row);
        newestFirst.push(turn);
        positions.set(turn.card_id, { box_id, position });
        if (tokens > wanted.tokens) continue;
        tokens += await countUpTo(meter, plainText(turn), wanted.tokens);
        const calls = turn.tool_calls !== null;
        isNewest &&= turn.role === 'tool' || calls;
        // The newest call may be shortened or left out, so turns before it may still fit.
        if (isNewest) tokens = Math.min(tokens, Math.ceil(wanted.tokens * CUT_SHARE));
        isNewest &&= !calls;
        fitting = newestFirst.length;
      }
      if (isEnough()) break;
    }
    if (isEnough() && wanted.scope_id === null && !reach) {
      total = await turnsIn(query, wanted.trajectory_id);
      break;
    }
  }
  const turns = trimmed(newestFirst.reverse(), Math.min(fitting, wanted.max_turns + 1));
  return { turns, total: Math.max(total, turns.length), positions };

  function isEnough(): boolean {
    const over = tokens > wanted.tokens || newestFirst.length > wanted.max_turns;
    return over && !mayLackCall(newestFirst, Math.min(fitting, wanted.max_turns));
  }
}

/** Drops turns that cannot fit, except those in one unit with turns that may. */
function trimmed(turns: readonly TurnCard[], fitting: number): readonly TurnCard[] {
  const first = turns.length - fitting;
  const unit = unitsOf(turns).find(({ until }) => until > first);
  return unit ? turns.slice(unit.from) : [];
}

/** A text that is too long to fit is not counted. */
const countUpTo = (meter: Meter, text: string, room: number): Promise<number> | number =>
  text.length > (room + 1) * 256 ? room + 1 : meter.count(text, room);

/** Whether a turn that may fit answers a call that may be a little further back. */
function mayLackCall(newestFirst: readonly TurnCard[], fitting: number): boolean {
  const turns = newestFirst.slice(0, fitting + CALL_DISTANCE).reverse();
  if (newestFirst.length >= fitting + CALL_DISTANCE) return false;
  const first = turns.length - fitting;
  return unitsOf(turns).some(({ orphaned, until }) => orphaned && until > first);
}
