import { afterEach, expect, jest, test } from '@jest/globals';
import { WorkerEnded, WorkerStanding, type WorkerState } from '../../workflows/worker-state.js';

const REFUSED = 'The worker ended: the polls are refused.';
/** For so long the SDK repeats polls that are refused. */
const REPEATED_MS = 60_000;

afterEach(() => {
  jest.restoreAllMocks();
});

function standing() {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const states: WorkerState[] = [];
  const worker = new WorkerStanding((state) => states.push(state));
  const pass = (ms: number) => {
    now += ms;
  };
  return { worker, states, pass };
}

test('a worker is no longer away as soon as it polls a server that was lost', () => {
  const { worker, states } = standing();
  worker.lost('Nothing answers.');
  worker.lost('Nothing answers.');
  expect([worker.failures, worker.state.awaySince]).toEqual([2, expect.any(Date)]);
  worker.polls(undefined, true);
  expect([worker.failures, worker.state.awaySince, worker.state.reason]).toEqual([0, undefined, undefined]);
  expect(states.map(({ status }) => status)).toEqual(['disconnected', 'polling']);
});

test('a worker whose polls are refused stays away, with ever longer delays, until it has polled for long', () => {
  const { worker, states, pass } = standing();
  worker.polls(undefined, true);
  pass(REPEATED_MS);
  worker.lost(REFUSED, new WorkerEnded(REFUSED));
  const { awaySince } = worker.state;
  expect(awaySince).toBeInstanceOf(Date);
  worker.polls(undefined, true);
  pass(REPEATED_MS);
  worker.polls(undefined, true);
  expect(worker.state).toMatchObject({ status: 'polling', reason: REFUSED, awaySince });
  worker.lost(REFUSED, new WorkerEnded(REFUSED));
  expect(worker.failures).toBe(2);

  worker.polls(undefined, true);
  expect(worker.state.awaySince).toBe(awaySince);
  pass(1.5 * REPEATED_MS);
  worker.polls(undefined, true);
  expect([worker.failures, worker.state.awaySince, worker.state.reason]).toEqual([0, undefined, undefined]);
  const seen = ['polling', 'disconnected', 'polling', 'disconnected', 'polling', 'polling'];
  expect(states.map(({ status }) => status)).toEqual(seen);
});

test('a worker without its schedules is away although it polls', () => {
  const { worker } = standing();
  worker.polls('The schedules could not be written.', false);
  expect(worker.state).toMatchObject({ status: 'polling', awaySince: expect.any(Date) });
  worker.polls(undefined, true);
  expect(worker.state.awaySince).toBeUndefined();
});
