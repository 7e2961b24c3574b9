import { describe, expect, test } from '@jest/globals';
import { FairSlots } from '../../src/fairness/fair-slots.js';

/** How many of so many attempts get a slot. */
function taken(slots: FairSlots, owner: string, attempts: number): number {
  return Array.from({ length: attempts }, () => slots.take(owner)).filter(Boolean).length;
}

describe('slots', () => {
  test('go to one owner by half at most, and to each further one by half of the rest', () => {
    const slots = new FairSlots(16);
    expect(taken(slots, 'one', 100)).toBe(8);
    expect(taken(slots, 'two', 100)).toBe(4);
    expect(taken(slots, 'three', 100)).toBe(2);
    expect(taken(slots, 'newcomer', 1)).toBe(1);
  });

  test('are never more than there are', () => {
    const slots = new FairSlots(3);
    const owners = ['one', 'two', 'three', 'four'];
    expect(owners.map((owner) => taken(slots, owner, 1))).toEqual([1, 1, 1, 0]);
  });

  test('can be had again once they are given back', () => {
    const slots = new FairSlots(4);
    expect(taken(slots, 'one', 9)).toBe(2);
    slots.give('one');
    slots.give('one');
    expect(taken(slots, 'two', 9)).toBe(2);
    expect(taken(slots, 'one', 9)).toBe(1);
  });
});
