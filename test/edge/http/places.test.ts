import { describe, expect, test } from '@jest/globals';
import { Places } from '../../../src/edge/http/places.js';

/** How many of so many attempts get a place. */
function taken(places: Places, owner: string, attempts: number): number {
  return Array.from({ length: attempts }, () => places.take(owner)).filter(Boolean).length;
}

describe('places', () => {
  test('go to one owner by half at most, and to each further one by half of the rest', () => {
    const places = new Places(16);
    expect(taken(places, 'one', 100)).toBe(8);
    expect(taken(places, 'two', 100)).toBe(4);
    expect(taken(places, 'three', 100)).toBe(2);
    expect(taken(places, 'newcomer', 1)).toBe(1);
  });

  test('are never more than there are', () => {
    const places = new Places(3);
    const owners = ['one', 'two', 'three', 'four'];
    expect(owners.map((owner) => taken(places, owner, 1))).toEqual([1, 1, 1, 0]);
  });

  test('can be had again once they are given back', () => {
    const places = new Places(4);
    expect(taken(places, 'one', 9)).toBe(2);
    places.giveBack('one');
    places.giveBack('one');
    expect(taken(places, 'two', 9)).toBe(2);
    expect(taken(places, 'one', 9)).toBe(1);
  });
});
