import { describe, expect, test } from '@jest/globals';
import { OwnerSlots } from '../../src/fairness/owner-slots.js';

/** How many of so many attempts get a slot. */
function taken(slots: OwnerSlots, owner: string, attempts: number): number {
  return Array.from({ length: attempts }, () => slots.take(owner)).filter(Boolean).length;
}

describe('slots', () => {
  test('go to one owner by half at most, and to each further one by half of the rest', () => {
    const slots = new OwnerSlots({ inTotal: 16 });
    expect(taken(slots, 'one', 100)).toBe(8);
    expect(taken(slots, 'two', 100)).toBe(4);
    expect(taken(slots, 'three', 100)).toBe(2);
    expect(taken(slots, 'newcomer', 1)).toBe(1);
  });

  test('are never more than there are', () => {
    const slots = new OwnerSlots({ inTotal: 3 });
    const owners = ['one', 'two', 'three', 'four'];
    expect(owners.map((owner) => taken(slots, owner, 1))).toEqual([1, 1, 1, 0]);
  });

  test('are taken and given back in numbers; the last that an owner takes may exceed its limit', () => {
    const slots = new OwnerSlots({ perOwner: 10, inTotal: 40 });
    expect([slots.take('one', 9), slots.take('one', 30), slots.take('one', 1)]).toEqual([true, true, false]);
    slots.give('one', 30);
    expect([slots.free, slots.heldBy('one'), slots.take('one', 1)]).toEqual([31, 9, true]);
  });

  test('can be had again once they are given back', () => {
    const slots = new OwnerSlots({ inTotal: 4 });
    expect(taken(slots, 'one', 9)).toBe(2);
    slots.give('one');
    slots.give('one');
    expect(taken(slots, 'two', 9)).toBe(2);
    expect(taken(slots, 'one', 9)).toBe(1);
  });

  test('can be handed on, also to an owner that could not take another', () => {
    const slots = new OwnerSlots({ inTotal: 4 });
    expect([taken(slots, 'one', 9), taken(slots, 'two', 9), taken(slots, 'three', 9)]).toEqual([2, 1, 1]);
    slots.move('one', 'two');
    expect([slots.heldBy('one'), slots.heldBy('two'), slots.free]).toEqual([1, 2, 0]);
  });

  test('are shared so only if they are the last, where some are kept for those that hold few', () => {
    const slots = new OwnerSlots({ inTotal: 16, kept: 4 });
    expect(taken(slots, 'one', 100)).toBe(12);
    expect([taken(slots, 'two', 100), taken(slots, 'three', 100), slots.free]).toEqual([2, 1, 1]);
  });

  test('count with what their owner holds besides', () => {
    const slots = new OwnerSlots({ inTotal: 8, held: new Map([['one', 5]]) });
    expect([taken(slots, 'one', 100), taken(slots, 'two', 100)]).toEqual([2, 3]);
    slots.give('one');
    expect(slots.heldBy('one')).toBe(6);
  });

  test('can be limited for each owner, whatever the others hold', () => {
    const slots = new OwnerSlots({ perOwner: 2 });
    expect([taken(slots, 'one', 9), taken(slots, 'two', 9)]).toEqual([2, 2]);
    slots.give('one');
    expect([taken(slots, 'two', 1), taken(slots, 'one', 9), slots.heldBy('one')]).toEqual([0, 1, 2]);
  });
});
