import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryScope, memoryType } from '#cairn/engine/access/model.js';
import { cardExtents, commonAccess, extentOf, narrowest, reachesCard, widest } from '#cairn/engine/access/rules.js';
import { allowsDelegation, commonDelegates } from '#cairn/identity/index.js';

const extent = fc.constantFrom('none' as const, ...memoryScope.options);
const rules = fc.array(
  fc.record({ memory_type: fc.constantFrom(...memoryType.options), scope: fc.constantFrom(...memoryScope.options) }),
);
const type = fc.constantFrom('Turn' as const, 'Artifact' as const, 'Note' as const, 'Card' as const);

describe('the rules of memory_access', () => {
  it('allow all where nothing is said, and nothing where the list is empty', () => {
    expect(extentOf(null, 'Card', 'read')).toBe('all');
    expect(extentOf({ write: [] }, 'Card', 'read')).toBe('all');
    expect(extentOf({ write: [] }, 'Card', 'write')).toBe('none');
    expect(extentOf({ read: [{ memory_type: 'Note', scope: 'all' }] }, 'Card', 'read')).toBe('none');
  });

  it('are never narrowed by one rule more, in whichever order they come', () => {
    fc.assert(
      fc.property(rules, rules, type, (some, more, kind) => {
        const before = extentOf({ read: some }, kind, 'read');
        const after = extentOf({ read: [...more, ...some] }, kind, 'read');
        expect(widest([before, after])).toBe(after);
        expect(extentOf({ read: [...some, ...more] }, kind, 'read')).toBe(after);
      }),
    );
  });

  it('know the widest and the narrowest of any', () => {
    fc.assert(
      fc.property(fc.array(extent, { minLength: 1 }), (extents) => {
        expect(extents).toContain(widest(extents));
        expect(extents).toContain(narrowest(extents));
        expect(widest([widest(extents), narrowest(extents)])).toBe(widest(extents));
      }),
    );
  });

  it('of two agents allow in common the narrower, for each type and need', () => {
    const access = fc.option(fc.record({ read: rules, write: rules }, { requiredKeys: [] }));
    const need = fc.constantFrom('read' as const, 'write' as const);
    fc.assert(
      fc.property(access, access, type, need, (one, other, kind, what) => {
        const both = [extentOf(one, kind, what), extentOf(other, kind, what)];
        expect(extentOf(commonAccess(one, other), kind, what)).toBe(narrowest(both));
      }),
    );
    expect(commonAccess(null, null)).toBe(null);
  });

  it('open the card of a turn, artifact or note no wider than that', () => {
    const access = { read: [{ memory_type: 'Card' as const, scope: 'all' as const }] };
    const extents = cardExtents(access, 'read');
    expect(extents).toEqual({ loose: 'all', held: 'none' });
    expect(reachesCard(extents, 'ann', { author_id: null, held_by: null })).toBe(true);
    expect(reachesCard(extents, 'ann', { author_id: 'ann', held_by: 'scope:1' })).toBe(false);
    const own = { loose: 'own', held: 'own_trajectory' } as const;
    for (const held_by of [null, 'note:1']) {
      expect(reachesCard(own, 'ann', { author_id: 'ann', held_by })).toBe(true);
      expect(reachesCard(own, 'ann', { author_id: 'bob', held_by })).toBe(false);
    }
  });
});

describe('the rules of can_delegate_to', () => {
  it('allow by id, by type, or anyone', () => {
    const bob = { agent_id: 'bob', agent_type: 'reviewer', profile_name: null };
    expect([null, ['*'], ['bob'], ['reviewer']].map((one) => allowsDelegation(one, bob))).toEqual(Array(4).fill(true));
    expect([[], ['Bob'], ['coder', 'bo']].map((one) => allowsDelegation(one, bob))).toEqual(Array(3).fill(false));
  });

  it('of two agents allow in common nobody that one of them does not', () => {
    expect(commonDelegates(null, null)).toBe(null);
    expect(commonDelegates(['bob'], ['ann', '*'])).toEqual(['bob']);
    const names = fc.option(fc.array(fc.constantFrom('*', 'bob', 'reviewer', 'coder')));
    const bob = { agent_id: 'bob', agent_type: 'reviewer', profile_name: null };
    fc.assert(
      fc.property(names, names, (one, other) => {
        const common = commonDelegates(one, other);
        if (allowsDelegation(common, bob))
          expect([one, other].map((rules) => allowsDelegation(rules, bob))).toEqual([true, true]);
        expect(commonDelegates(one, null)).toEqual(one);
        expect(commonDelegates(one, one)?.length).toBe(one?.length);
      }),
    );
  });
});
