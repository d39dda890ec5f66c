/** Reads the newest turns of a context, page by page backwards, and no more than can fit. */
import type { Query } from '../../driver/index.js';
import { type Call, nextLimit } from '../../engine/index.js';
import { cardBytes, textOf } from '../../facts/index.js';
import { type BoxRow, type CardRow, findBox, findCards, segmentsOf, tailOf } from '../../facts/sql.js';
import { reachOf } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { scopesReached } from '../../memory/sql.js';
import type { TurnPlace } from '../manifests/entries.js';
import type { Meter } from '../windows/assembly.js';
import { CUT_SHARE } from '../windows/fitting.js';
import { type TurnCard, textsOf, unitsOf } from '../windows/turns.js';
import { turnCardOf } from './parts.js';
import { newestScopes, type ScopePlace, scopesAround, turnsIn } from './sources.js';

export interface TurnsWanted {
  readonly trajectory_id: string;
  readonly scope_id: string | null;
  readonly hierarchy: boolean;
  /** More need not be read, since they cannot fit. */
  readonly tokens: number;
  readonly max_turns: number;
}

export interface ReadTurns {
  /** In order. */
  readonly turns: readonly TurnCard[];
  /** How many there are in all. */
  readonly total: number;
  /** Where each stands. */
  readonly places: ReadonlyMap<string, TurnPlace>;
}

interface PlacedCard {
  readonly row: CardRow;
  readonly position: number;
}

const SCOPES_AT_A_TIME = 20;
const FIRST_PAGE = 32;
/** A result is looked for its call in so many turns before it; one that is not there has none. */
const CALL_WITHIN = 64;

/** Where the turns are, the newest place first. */
async function* placesOf(query: Query, wanted: TurnsWanted): AsyncGenerator<ScopePlace> {
  if (wanted.scope_id !== null) {
    const around = await scopesAround(query, wanted.scope_id);
    yield* wanted.hierarchy ? around : around.slice(0, 1);
    return;
  }
  for (let last: ScopePlace | undefined; ; ) {
    const page = await newestScopes(query, wanted.trajectory_id, last, SCOPES_AT_A_TIME);
    yield* page;
    if (page.length < SCOPES_AT_A_TIME) return;
    last = page.at(-1);
  }
}

/** The cards of a box from its last backwards, in pages that grow. */
async function* cardsFromEnd(query: Query, box: BoxRow): AsyncGenerator<PlacedCard[]> {
  const segments = await segmentsOf(query, box);
  let limit = FIRST_PAGE;
  for (let seen = 0; seen < box.length; ) {
    // From the end again each time: positions are cheap to read, and it is cards that are not.
    const tail = await tailOf(query, segments, seen + limit);
    const entries = tail.slice(0, tail.length - seen);
    if (entries.length === 0) return;
    const rows = await findCards(
      query,
      entries.map(({ card_id }) => card_id),
    );
    const found = entries.flatMap(({ card_id, position }): PlacedCard[] => {
      const row = rows.get(card_id);
      return row ? [{ row, position }] : [];
    });
    seen += entries.length;
    limit = nextLimit(found, limit, ({ row }) => cardBytes(row));
    yield found.reverse();
  }
}

/** Texts of a turn, about as they are shown: to know when there are enough. */
const plain = (turn: TurnCard): string => [...textsOf(turn), textOf(turn.tool_calls as Json)].join('\n');

export async function readTurns(call: Call, wanted: TurnsWanted, meter: Meter): Promise<ReadTurns> {
  const { driver, tenant } = call;
  const query = driver.at(tenant);
  const reach = reachOf(call, 'Turn');
  if (reach?.extent === 'none') return { turns: [], total: 0, places: new Map() };
  const newestFirst: TurnCard[] = [];
  const places = new Map<string, TurnPlace>();
  let tokens = 0;
  let total = 0;
  /** Of the turns that are read, so many may fit. */
  let fitting = 0;
  let isNewest = true;
  for await (const { scope_id, box_id } of placesOf(query, wanted)) {
    const box = await findBox(query, box_id);
    if (!box || box.ended_at !== null) continue;
    const all = !reach || (await scopesReached(query, [scope_id], reach)).has(scope_id);
    if (all) total += box.length;
    if (isEnough()) continue;
    for await (const page of cardsFromEnd(query, box)) {
      for (const { row, position } of page) {
        if (row.erased_at !== null || (!all && row.author_id !== reach.agent_id)) continue;
        if (!all) total++;
        const turn = turnCardOf(row);
        newestFirst.push(turn);
        places.set(turn.card_id, { box_id, position });
        if (tokens > wanted.tokens) continue;
        tokens += await countUpTo(meter, plain(turn), wanted.tokens);
        const calls = turn.tool_calls !== null;
        isNewest &&= turn.role === 'tool' || calls;
        // The newest call may be shortened or left out: there is room for some turns before it.
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
  return { turns, total: Math.max(total, turns.length), places };

  function isEnough(): boolean {
    const over = tokens > wanted.tokens || newestFirst.length > wanted.max_turns;
    return over && !mayLackCall(newestFirst, Math.min(fitting, wanted.max_turns));
  }
}

/** Without what was read beyond those that may fit, but for what belongs to them. */
function trimmed(turns: readonly TurnCard[], fitting: number): readonly TurnCard[] {
  const first = turns.length - fitting;
  const unit = unitsOf(turns).find(({ until }) => until > first);
  return unit ? turns.slice(unit.from) : [];
}

/** What is longer than all the room need not be counted. */
const countUpTo = (meter: Meter, text: string, room: number): Promise<number> | number =>
  text.length > (room + 1) * 256 ? room + 1 : meter.count(text, room);

/** Whether a turn that may fit answers a call that may be found a little further back. */
function mayLackCall(newestFirst: readonly TurnCard[], fitting: number): boolean {
  const turns = newestFirst.slice(0, fitting + CALL_WITHIN).reverse();
  if (newestFirst.length >= fitting + CALL_WITHIN) return false;
  const first = turns.length - fitting;
  return unitsOf(turns).some(({ orphaned, until }) => orphaned && until > first);
}
