import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Member } from '../../../src/rpc/members/member.js';
import { Members } from '../../../src/rpc/members/members.js';

const LOOK_UP_EVERY_MS = 5_000;
const TURN_MS = 250;

/** Without connections. */
class FakeMember {
  state = 'serving';
  rank = 0;
  isIdle = true;
  isSilent = false;
  end: 'left' | 'closed' | undefined;

  constructor(
    readonly address: string,
    readonly name: string | undefined,
  ) {}

  get report() {
    return { address: this.address, state: this.state };
  }

  turn(): void {}

  leave(): void {
    this.end = 'left';
  }

  close(): void {
    this.end = 'closed';
  }
}

describe('the servers behind a name', () => {
  let found: string[] | Error;
  let made: FakeMember[];
  let members: Members;

  beforeEach(() => {
    jest.useFakeTimers();
    made = [];
  });
  afterEach(() => {
    members.close();
    jest.useRealTimers();
  });

  async function begin(addresses: string, first: string[] | Error) {
    found = first;
    members = new Members(
      addresses,
      ({ address, name }) => {
        const member = new FakeMember(address, name);
        made.push(member);
        return member as unknown as Member;
      },
      async () => {
        if (found instanceof Error) {
          throw found;
        }
        return found.map((address) => ({ address, name: 'domains:4005' }));
      },
    );
    await jest.advanceTimersByTimeAsync(0);
  }

  async function lookUp(next: string[] | Error) {
    found = next;
    await jest.advanceTimersByTimeAsync(LOOK_UP_EVERY_MS);
  }

  const inUse = () => members.reports().map(({ address }) => address);
  const chosen = () => members.best(() => 0).address;

  test('are looked up again: new ones are used, and those in use are kept', async () => {
    await begin('dns:///domains:4005', ['10.0.0.1:4005', '10.0.0.2:4005']);
    expect(made.map(({ name }) => name)).toEqual(['domains:4005', 'domains:4005']);
    await lookUp(['10.0.0.2:4005', '10.0.0.3:4005', '10.0.0.1:4005']);
    expect(made).toHaveLength(3);
    expect(new Set([chosen(), chosen(), chosen()])).toEqual(new Set(inUse()));
  });

  test('that are gone get no calls, and are closed when their calls have ended', async () => {
    await begin('dns:///domains:4005', ['10.0.0.1:4005', '10.0.0.2:4005']);
    const [first] = made as [FakeMember];
    first.isIdle = false;
    await lookUp(['10.0.0.2:4005']);
    expect([chosen(), chosen(), first.end]).toEqual(['10.0.0.2:4005', '10.0.0.2:4005', 'left']);
    await jest.advanceTimersByTimeAsync(TURN_MS);
    expect(first.end).toBe('left');
    first.isIdle = true;
    await jest.advanceTimersByTimeAsync(TURN_MS);
    expect(first.end).toBe('closed');
  });

  test('stay in use while it cannot be looked up, which is reported', async () => {
    await begin('dns:///domains:4005', ['10.0.0.1:4005']);
    await lookUp(new Error('the name server is away'));
    expect(chosen()).toBe('10.0.0.1:4005');
    expect(members.reports()).toEqual([
      { address: '10.0.0.1:4005', state: 'serving' },
      { address: 'dns:///domains:4005', state: 'unreachable', reason: 'the name server is away' },
    ]);
    await lookUp(['10.0.0.1:4005']);
    expect(inUse()).toEqual(['10.0.0.1:4005']);
  });

  test('are used once, and beside those of a list', async () => {
    await begin('10.0.0.1:4005, dns:///domains:4005,10.0.0.1:4005', ['10.0.0.1:4005', '10.0.0.2:4005']);
    expect(inUse()).toEqual(['10.0.0.1:4005', '10.0.0.2:4005']);
    expect(made).toHaveLength(2);
    await lookUp([]);
    expect(inUse()).toEqual(['10.0.0.1:4005']);
  });
});
